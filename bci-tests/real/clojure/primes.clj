(defn sieve [n]
  (loop [candidates (range 2 n) primes []]
    (if-let [p (first candidates)]
      (recur (doall (remove #(zero? (mod % p)) (rest candidates))) (conj primes p))
      primes)))
(defrecord Account [owner balance])
(defprotocol Describing (describe [this]))
(extend-type Account Describing (describe [this] (str (:owner this) " has " (:balance this))))
(def accounts (atom (into {} (for [i (range 100)] [i (->Account (str "owner-" i) (* i i))]))))
(dotimes [i 100] (swap! accounts update-in [i :balance] + 5))
(println (sieve 400))
(println (reduce + (map :balance (vals @accounts))))
(println (describe (get @accounts 7)))
(println (sort (frequencies (map #(mod (:balance %) 10) (vals @accounts)))))
(println (->> (range 1000) (filter odd?) (map #(* % %)) (partition-all 50) (map #(apply + %)) (reduce max)))
