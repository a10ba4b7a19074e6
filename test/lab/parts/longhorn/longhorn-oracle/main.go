// Answers what Longhorn's own code decides about drains in a given state of a cluster. Reads one state per line from standard input, as
// JSON, and answers each with one line, in the same order. A line that cannot be read is answered with what is wrong with it.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"log"
	"os"
)

// The longest state that is taken; those of the lab have some ten thousand bytes.
const longestLine = 64 << 20

func main() {
	log.SetFlags(0)
	log.SetPrefix("longhorn-oracle: ")
	namespace := flag.String("namespace", os.Getenv("POD_NAMESPACE"), "where Longhorn's objects are")
	flag.Parse()
	if *namespace == "" {
		log.Fatal("no namespace is given: use -namespace or POD_NAMESPACE")
	}
	asked, err := openLonghorn(*namespace)
	if err != nil {
		log.Fatal(err)
	}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(make([]byte, 1<<20), longestLine)
	answers := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		if err := answers.Encode(answerTo(asked, lines.Bytes())); err != nil {
			log.Fatal(err)
		}
	}
	if err := lines.Err(); err != nil {
		log.Fatal(err)
	}
}

func answerTo(asked *cachedLonghorn, line []byte) answer {
	var seen state
	if err := json.Unmarshal(line, &seen); err != nil {
		return answer{Error: err.Error()}
	}
	given, err := asked.decide(seen)
	if err != nil {
		return answer{Error: err.Error()}
	}
	return given
}
