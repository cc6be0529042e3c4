// Command lunchbox serves the page of the lunch box, and the price of an order.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"example.com/lunchbox/api/internal/order"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "`HOST:PORT` to listen on")
	site := flag.String("site", "../../web/dist", "`DIR` with the page and prices.json")
	flag.Parse()

	data, err := os.ReadFile(filepath.Join(*site, "prices.json"))
	if err != nil {
		log.Fatal(err)
	}
	prices, err := order.ParsePrices(data)
	if err != nil {
		log.Fatal(err)
	}
	log.Printf("http://%s", *addr)
	server := &http.Server{Addr: *addr, Handler: handler(*site, prices), ReadHeaderTimeout: 5 * time.Second}
	log.Fatal(server.ListenAndServe())
}

// handler serves the files of site, and POST /api/order, which takes
// {"rice": 2, "tea": 1} and answers {"cents": 420}.
func handler(site string, prices order.Prices) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /", http.FileServer(http.Dir(site)))
	mux.HandleFunc("POST /api/order", func(w http.ResponseWriter, r *http.Request) {
		var portions map[string]int
		if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<16)).Decode(&portions); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		cents, err := prices.Total(portions)
		switch {
		case errors.Is(err, order.ErrUnknown):
			http.Error(w, err.Error(), http.StatusNotFound)
		case err != nil:
			http.Error(w, err.Error(), http.StatusBadRequest)
		default:
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(map[string]int{"cents": cents})
		}
	})
	return mux
}
