function Point(x, y) { this.x = x; this.y = y; }
Point.prototype.plus = function (other) { return new Point(this.x + other.x, this.y + other.y); };
var sum = new Point(0, 0), seen = {};
for (var i = 0; i < 3000; i++) {
    sum = sum.plus(new Point(i % 7, i % 11));
    seen["k" + i % 97] = (seen["k" + i % 97] || 0) + 1;
}
print("sum " + sum.x + "," + sum.y);
print(Object.keys(seen).length + " keys, " + JSON.stringify([seen.k0, seen.k96]));
var list = new java.util.ArrayList();
for (var j = 0; j < 10; j++) { list.add(java.lang.Integer.valueOf(j * 1000)); }
print(list);
print("martini".replace(/[aeiou]/g, function (v) { return v.toUpperCase(); }));
try { null.field; } catch (e) { print(e.name); }
print([5, 1, 4].sort().map(function (n) { return n * n; }).join(" "));
