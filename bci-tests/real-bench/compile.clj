;; Compiles parts of Clojure's own library from their sources, over and over. Argument: rounds.
(require '[clojure.java.io :as io])

(def sources
  ["clojure/set.clj" "clojure/walk.clj" "clojure/zip.clj" "clojure/data.clj" "clojure/template.clj" "clojure/test.clj"
   "clojure/xml.clj" "clojure/reflect.clj" "clojure/repl.clj" "clojure/inspector.clj" "clojure/instant.clj"])

(defn compile-source [path]
  (with-open [in (io/reader (io/resource path))]
    (clojure.lang.Compiler/load in path (.getName (io/file path)))))

(let [rounds (parse-long (first *command-line-args*))]
  (dotimes [_ rounds]
    (run! compile-source sources))
  (println rounds "rounds," (count (ns-interns (quote clojure.reflect))) "names in clojure.reflect"))
