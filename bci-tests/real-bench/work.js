// Trees, strings, regular expressions and JSON, as scripts use them. Argument: rounds.
function Node(key, value) { this.key = key; this.value = value; this.left = null; this.right = null; this.rank = 0; }

function random(seed) {
    var state = seed;
    return function () { state = (state * 16807) % 2147483647; return state; };
}

// A treap: each round inserts, looks up and walks.
function insert(node, key, value, rank) {
    if (node === null) { var fresh = new Node(key, value); fresh.rank = rank; return fresh; }
    if (key === node.key) { node.value = value; return node; }
    var child;
    if (key < node.key) {
        child = node.left = insert(node.left, key, value, rank);
        if (child.rank > node.rank) { node.left = child.right; child.right = node; return child; }
    } else {
        child = node.right = insert(node.right, key, value, rank);
        if (child.rank > node.rank) { node.right = child.left; child.left = node; return child; }
    }
    return node;
}

function walk(node, visit) {
    if (node !== null) { walk(node.left, visit); visit(node); walk(node.right, visit); }
}

function round(seed) {
    var next = random(seed + 1), root = null, words = [], i;
    for (i = 0; i < 4000; i++) {
        var key = next() % 5000;
        root = insert(root, key, { name: "key-" + key, tags: ["t" + key % 7, "u" + key % 11] }, next());
    }
    var seen = {};
    walk(root, function (node) {
        seen[node.value.tags[0]] = (seen[node.value.tags[0]] || 0) + 1;
        words.push(node.value.name.replace(/([a-z]+)-(\d+)/, function (all, word, digits) { return digits + "-" + word; }));
    });
    var text = JSON.stringify({ words: words, seen: seen });
    var back = JSON.parse(text);
    return back.words.filter(function (word) { return /7/.test(word); }).map(function (word) { return word.length; })
        .reduce(function (sum, length) { return sum + length; }, text.length);
}

var rounds = parseInt(arguments[0], 10), sum = 0;
for (var r = 0; r < rounds; r++) { sum += round(r); }
print(rounds + " rounds, sum " + sum);
