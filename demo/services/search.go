// SPDX-License-Identifier: BSD-2-Clause
// Searching texts: search PORT
package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"sort"
	"strings"
)

type hit struct {
	Doc, Score int
}

var docs []string

func score(doc string, words []string) int {
	n := 0
	for _, w := range words {
		n += strings.Count(doc, w)
	}
	return n
}

func find(query string) []hit {
	words := strings.Fields(query)
	var hits []hit
	for i, d := range docs {
		if n := score(d, words); n > 0 {
			hits = append(hits, hit{i, n})
		}
	}
	sort.Slice(hits, func(i, j int) bool { return hits[i].Score > hits[j].Score })
	return hits
}

func answer(w http.ResponseWriter, r *http.Request) {
	json.NewEncoder(w).Encode(find("red 17 item"))
}

func main() {
	for i := 0; i < 2000; i++ {
		docs = append(docs, strings.Repeat(fmt.Sprintf("item %d red %d ", i, i%40), 20))
	}
	http.HandleFunc("/", answer)
	http.ListenAndServe("127.0.0.1:"+os.Args[1], nil)
}
