// Dynamic calls, closures, boxed numbers and strings in loops. Argument: rounds.
class Person {
    String name
    int born
    String toString() { "$name ($born)" }
}

long letters = 0
args[0].toInteger().times { round ->
    def people = (1..500).collect { new Person(name: "person $it", born: 1900 + (it * round) % 100) }
    def decades = people.groupBy { it.born.intdiv(10) * 10 }
    letters += decades.collect { decade, members -> "$decade: ${members.join(', ')}".size() }.sum()
    letters += people.inject(0) { sum, person -> sum + person.born ** 2 % 7 }
}
println letters
