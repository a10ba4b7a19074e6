package main

import (
	"bytes"
	"io"
	"log"
	"net/http"
)

// Logs every write that the API server refuses, with its words: Longhorn's code tries again, and does not say why it has to.
type refusalLog struct{ next http.RoundTripper }

func (l refusalLog) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := l.next.RoundTrip(request)
	if err != nil || request.Method == http.MethodGet || response.StatusCode < 400 {
		return response, err
	}
	words, readErr := io.ReadAll(response.Body)
	_ = response.Body.Close()
	if readErr != nil {
		return nil, readErr
	}
	response.Body = io.NopCloser(bytes.NewReader(words))
	log.Printf("refused: %s %s: %d %s", request.Method, request.URL.Path, response.StatusCode, words)
	return response, nil
}
