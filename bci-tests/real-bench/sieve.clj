;; Lazy sequences, persistent maps and boxed numbers, in functions that are compiled once. Argument: rounds.
(defn sieve [n]
  (loop [candidates (range 2 n) primes []]
    (if-let [p (first candidates)]
      (recur (doall (remove #(zero? (mod % p)) (rest candidates))) (conj primes p))
      primes)))

(defn histogram [numbers]
  (reduce (fn [counts n] (update counts (mod n 97) (fnil inc 0))) {} numbers))

(let [rounds (parse-long (first *command-line-args*))]
  (println (reduce + (for [i (range rounds)]
    (+ (count (sieve (+ 300 (mod i 7))))
       (count (histogram (map #(* % %) (filter odd? (range 40000))))))))))
