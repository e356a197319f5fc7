// A forward proxy for comparing with: goproxy, the library that smokescreen is made of, with the least that an egress
// proxy has to do for a tunnel: look the host up in an allowlist, resolve it, check the address, dial that address, and
// write a line about it. Smokescreen does more for each tunnel than this.
//
//	go build -o goproxy-rival goproxy.go   (with github.com/elazarl/goproxy in GOPATH, GO111MODULE=off)
//	goproxy-rival PORT ALLOWED_RANGE
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/elazarl/goproxy"
)

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: goproxy-rival PORT ALLOWED_RANGE")
	}
	_, allowed, err := net.ParseCIDR(os.Args[2])
	if err != nil {
		log.Fatal(err)
	}
	hosts := map[string]bool{"127.0.0.1": true}
	for n := range 9 {
		hosts[fmt.Sprintf("host%d.example%d.org", n, n)] = true
	}
	lines := json.NewEncoder(io.Discard)

	proxy := goproxy.NewProxyHttpServer()
	proxy.Logger = log.New(io.Discard, "", 0)
	proxy.ConnectDial = func(network, target string) (net.Conn, error) {
		begun := time.Now()
		host, port, err := net.SplitHostPort(target)
		if err != nil {
			return nil, err
		}
		if !hosts[host] {
			return nil, fmt.Errorf("%s is not allowed", host)
		}
		address, err := net.ResolveIPAddr("ip", host)
		if err != nil {
			return nil, err
		}
		if address.IP.IsPrivate() || address.IP.IsLoopback() && !allowed.Contains(address.IP) {
			return nil, fmt.Errorf("%s is not public", address.IP)
		}
		conn, err := net.DialTimeout(network, net.JoinHostPort(address.IP.String(), port), 10*time.Second)
		_ = lines.Encode(map[string]any{"host": host, "address": address.IP, "allowed": err == nil, "took": time.Since(begun)})
		return conn, err
	}
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Args[1], proxy))
}
