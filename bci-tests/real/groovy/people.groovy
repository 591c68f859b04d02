import groovy.transform.Canonical

@Canonical
class Person {
    String name
    int born
    List<String> likes = []
}

trait Greeting {
    String greet() { "Hello, ${name}" }
}

def people = (1..200).collect { new Person("person $it", 1900 + it % 100, ["tea", "bread"].findAll { x -> it % 2 == 0 || x == "tea" }) }
def byDecade = people.groupBy { it.born.intdiv(10) * 10 }.sort { it.key }
byDecade.each { decade, members -> println "$decade: ${members.size()} ${members*.likes.flatten().countBy { it }.sort()}" }
def greeter = people[41] as Greeting
println greeter.greet()
def fib
fib = { n -> n < 2 ? n : fib(n - 1) + fib(n - 2) }
println((0..15).collect { fib(it) })
println(people.inject(0G) { sum, p -> sum + p.born ** 3 })
assert "martini".with { it.reverse().toUpperCase() } == "INITRAM"
