// A consumer of coffer's webhooks. It verifies and stores each event, responds, and then processes it.
//
//	WEBHOOK_SECRETS='whsec_…' PORT=3000 INBOX=inbox go run consumer.go
//
// During a rotation, set WEBHOOK_SECRETS to both secrets, separated by a space. Requires only Go 1.19 or
// later. Run one process per inbox.
package main

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"time"
)

const (
	tolerance    = 5 * time.Minute
	bodyBytesMax = 1024 * 1024 // coffer's limit is 128 KiB by default; its operator can raise it
	retryAfter   = 5 * time.Second
)

var (
	keys     [][]byte
	inbox    = setting("INBOX", "inbox")
	newDir   = filepath.Join(inbox, "new")      // stored and acknowledged, not processed yet
	doneDir  = filepath.Join(inbox, "done")     // processed; kept to recognise repeated deliveries
	payments = filepath.Join(inbox, "payments") // the latest state of each payment
	wanted   = make(chan struct{}, 1)

	idPattern   = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	timePattern = regexp.MustCompile(`^[0-9]{1,12}$`)
)

type event struct {
	Type     string          `json:"type"`
	Sequence *int64          `json:"sequence"`
	Test     bool            `json:"test"`
	Data     json.RawMessage `json:"data"`
}

type payment struct {
	ID      string `json:"id,omitempty"`
	Version int64  `json:"version"`
	Status  string `json:"status"`
}

func setting(name, otherwise string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return otherwise
}

// --- Verify ------------------------------------------------------------------------------------------

// rejection returns the reason to reject a delivery, or "". The body contains the raw bytes, before any parsing.
func rejection(headers http.Header, body []byte) string {
	id := headers.Get("webhook-id")
	timestamp := headers.Get("webhook-timestamp")
	signatures := headers.Get("webhook-signature")
	if id == "" || timestamp == "" || signatures == "" {
		return "a header is missing"
	}
	if !idPattern.MatchString(id) {
		return "webhook-id is malformed"
	}
	if !timePattern.MatchString(timestamp) {
		return "webhook-timestamp is malformed"
	}
	seconds, _ := strconv.ParseInt(timestamp, 10, 64)
	if age := time.Since(time.Unix(seconds, 0)); age > tolerance || age < -tolerance {
		return "too old, or a clock is wrong"
	}
	for _, key := range keys {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(id + "." + timestamp + "."))
		mac.Write(body)
		expected := []byte("v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)))
		for _, given := range strings.Split(signatures, " ") {
			if hmac.Equal([]byte(given), expected) { // constant time
				return ""
			}
		}
	}
	return "no signature matches"
}

// --- Store -------------------------------------------------------------------------------------------

func syncPath(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	return file.Sync()
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// keep stores the event on disk. It returns false if the event was stored before.
func keep(id string, body []byte) (bool, error) {
	if exists(filepath.Join(doneDir, id)) {
		return false, nil
	}
	random := make([]byte, 16)
	if _, err := rand.Read(random); err != nil {
		return false, err
	}
	draft := filepath.Join(inbox, "draft-"+hex.EncodeToString(random))
	if err := os.WriteFile(draft, body, 0o600); err != nil {
		return false, err
	}
	defer os.Remove(draft)
	if err := syncPath(draft); err != nil {
		return false, err
	}
	err := os.Link(draft, filepath.Join(newDir, id)) // atomic, and succeeds in one process only
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return false, err
	}
	return err == nil, syncPath(newDir)
}

// --- Process -----------------------------------------------------------------------------------------

// apply: replace this with your work. It must be idempotent, because after a crash it can run twice for an event.
func apply(e event) (string, error) {
	if e.Test || !strings.HasPrefix(e.Type, "payment.") {
		return "nothing to do", nil
	}
	var record, known payment
	if err := json.Unmarshal(e.Data, &record); err != nil {
		return "", err
	}
	if !idPattern.MatchString(record.ID) {
		return "", errors.New("data.id is malformed")
	}
	path := filepath.Join(payments, record.ID)
	if text, err := os.ReadFile(path); err == nil {
		if err := json.Unmarshal(text, &known); err != nil {
			return "", err
		}
	}
	if record.Version <= known.Version {
		return "overtaken by a later event", nil
	}
	text, err := json.Marshal(payment{Version: record.Version, Status: record.Status})
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(path+".draft", text, 0o600); err != nil {
		return "", err
	}
	return record.ID + " " + record.Status, os.Rename(path+".draft", path)
}

type keptEvent struct {
	id string
	event
}

// keptEvents returns the stored events, in order of sequence.
func keptEvents() ([]keptEvent, error) {
	entries, err := os.ReadDir(newDir)
	if err != nil {
		return nil, err
	}
	var events []keptEvent
	for _, entry := range entries {
		path := filepath.Join(newDir, entry.Name())
		if exists(filepath.Join(doneDir, entry.Name())) {
			os.Remove(path) // redelivered during processing
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		kept := keptEvent{id: entry.Name()}
		if err := json.Unmarshal(text, &kept.event); err != nil {
			return nil, err
		}
		events = append(events, kept)
	}
	sort.Slice(events, func(a, b int) bool { return *events[a].Sequence < *events[b].Sequence })
	return events, nil
}

func work() {
	for {
		events, err := keptEvents()
		if err != nil {
			log.Printf("error: %v", err)
		}
		for _, kept := range events {
			result, err := apply(kept.event)
			if err == nil {
				log.Printf("processed %d %s: %s", *kept.Sequence, kept.Type, result)
				err = os.Rename(filepath.Join(newDir, kept.id), filepath.Join(doneDir, kept.id))
			}
			if err != nil {
				log.Printf("failed %d %s, will be retried: %v", *kept.Sequence, kept.Type, err)
			}
		}
		select {
		case <-wanted:
		case <-time.After(retryAfter):
		}
	}
}

// --- Serve -------------------------------------------------------------------------------------------

func isEvent(body []byte) bool {
	var e event
	return json.Unmarshal(body, &e) == nil && e.Type != "" && e.Sequence != nil
}

func receive(response http.ResponseWriter, request *http.Request) int {
	if request.URL.Path != "/hooks" {
		return http.StatusNotFound
	}
	if request.Method != http.MethodPost {
		return http.StatusMethodNotAllowed
	}
	body, err := io.ReadAll(http.MaxBytesReader(response, request.Body, bodyBytesMax))
	if err != nil {
		return http.StatusRequestEntityTooLarge
	}
	if reason := rejection(request.Header, body); reason != "" {
		log.Printf("rejected: %s", reason)
		return http.StatusUnauthorized
	}
	if !isEvent(body) {
		return http.StatusBadRequest
	}
	id := request.Header.Get("webhook-id")
	first, err := keep(id, body)
	if err != nil {
		log.Printf("error: %v", err)
		return http.StatusInternalServerError // not stored: coffer retries
	}
	if first {
		log.Printf("kept %s", id)
	} else {
		log.Printf("repeated %s", id)
	}
	return http.StatusNoContent
}

func answer(response http.ResponseWriter, request *http.Request) {
	status := receive(response, request)
	response.WriteHeader(status)
	if status == http.StatusNoContent {
		select {
		case wanted <- struct{}{}: // the worker runs concurrently
		default:
		}
	}
}

func main() {
	log.SetOutput(os.Stdout)
	log.SetFlags(0)
	for _, secret := range strings.Fields(os.Getenv("WEBHOOK_SECRETS")) {
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
		if err != nil || len(key) < 24 {
			log.Fatal("WEBHOOK_SECRETS contains an invalid secret; expected whsec_…")
		}
		keys = append(keys, key)
	}
	if len(keys) == 0 {
		log.Fatal("WEBHOOK_SECRETS is not set")
	}
	for _, folder := range []string{newDir, doneDir, payments} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			log.Fatal(err)
		}
	}
	go work() // first, events that an earlier run stored but did not process
	address := "127.0.0.1:" + setting("PORT", "3000")
	server := &http.Server{Addr: address, Handler: http.HandlerFunc(answer), ReadTimeout: 20 * time.Second}
	fmt.Println("listening on", address)
	log.Fatal(server.ListenAndServe())
}
