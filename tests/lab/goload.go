// SPDX-License-Identifier: GPL-2.0-only

// goload channel|pool: work that goroutines hand over. Prints the rate of the last 1.5 s of 2, and the
// median and the 99th percentile of the times in us.
//
// channel: two goroutines hand a value to each other over unbuffered channels; a time is that of a
// round, there and back. pool: four workers take jobs from a channel and make garbage, which Go
// collects meanwhile; a time is that from a job's sending to its result.
package main

import (
	"fmt"
	"os"
	"sort"
	"time"
)

const (
	runTime    = 2 * time.Second
	warmUp     = 500 * time.Millisecond
	workers    = 4
	inPool     = 8    // jobs at a time
	jobObjects = 1000 // that a job allocates
)

// measure calls one, which returns how long what it waited for took, until the time is over.
func measure(one func() time.Duration) {
	var took []float64

	start := time.Now()
	for elapsed := time.Duration(0); elapsed < runTime; elapsed = time.Since(start) {
		us := float64(one().Nanoseconds()) / 1000
		if elapsed > warmUp {
			took = append(took, us)
		}
	}
	sort.Float64s(took)
	fmt.Println(float64(len(took))/(time.Since(start)-warmUp).Seconds(), took[len(took)/2],
		took[len(took)*99/100])
}

func channel() {
	there, back := make(chan int), make(chan int)

	go func() {
		for value := range there {
			back <- value + 1
		}
	}()
	value := 0
	measure(func() time.Duration {
		start := time.Now()
		there <- value
		value = <-back
		return time.Since(start)
	})
}

type object struct {
	next *object
	text []byte
}

// job allocates a list of objects, of which it keeps none.
func job() int {
	var list *object
	total := 0

	for i := 0; i < jobObjects; i++ {
		list = &object{list, make([]byte, 16+i%48)}
	}
	for ; list != nil; list = list.next {
		total += len(list.text)
	}
	return total
}

func pool() {
	jobs, results := make(chan time.Time, inPool), make(chan time.Time, inPool)

	for i := 0; i < workers; i++ {
		go func() {
			for sent := range jobs {
				job()
				results <- sent
			}
		}()
	}
	for i := 0; i < inPool; i++ {
		jobs <- time.Now()
	}
	measure(func() time.Duration {
		took := time.Since(<-results)
		jobs <- time.Now()
		return took
	})
}

func main() {
	loads := map[string]func(){"channel": channel, "pool": pool}

	if len(os.Args) == 2 && loads[os.Args[1]] != nil {
		loads[os.Args[1]]()
		return
	}
	fmt.Fprintln(os.Stderr, "usage: goload channel|pool")
	os.Exit(2)
}
