// Package coffer is a client of the payment gateway coffer. It has no dependencies.
//
// Each operation of the API is a method of [Client]; a list is an [Iterator]. An error response is a [*Problem], and a
// request without a response a [*ConnectionError]. The package repeats requests where that cannot repeat their effect.
package coffer

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Config has the address and the credentials of an application. Only BaseURL is always required.
type Config struct {
	BaseURL string // such as https://pay.example.com

	ClientID     string
	ClientSecret Secret
	APIKey       Secret
	Scope        string // requests a token with fewer permissions; empty: all

	// For the Connect group only.
	ConnectSecret Secret
	PublicKey     string
	SignInSecret  Secret

	HTTPClient     *http.Client     // default: a client that does not follow redirects
	AttemptTimeout time.Duration    // of one attempt; default 20 s
	Deadline       time.Duration    // of all attempts of a call; default 60 s. The context can end it earlier.
	RetryDelay     time.Duration    // before the first repetition; default 250 ms
	Now            func() time.Time // for tests; default time.Now
}

// Client calls the API. It is safe for concurrent use.
type Client struct {
	config    Config
	tokens    map[authorization]*token
	mutex     sync.Mutex
	listeners map[string]map[chan struct{}]bool // by record ID
}

// token is a kept access token. Its lock is held during a renewal, so that concurrent calls share one.
type token struct {
	lock    chan struct{}
	value   Secret
	renewAt time.Time
}

// New returns a client.
func New(config Config) (*Client, error) {
	base, err := url.Parse(config.BaseURL)
	if err != nil || base.Host == "" || (base.Scheme != "http" && base.Scheme != "https") {
		return nil, fmt.Errorf("coffer: BaseURL %q is not an http or https URL", config.BaseURL)
	}
	config.BaseURL = strings.TrimRight(config.BaseURL, "/")
	if config.HTTPClient == nil {
		transport := http.DefaultTransport.(*http.Transport).Clone()
		transport.IdleConnTimeout = 15 * time.Second // shorter than the server's
		config.HTTPClient = &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse // a redirect would pass the API key on
		}}
	}
	setDefault(&config.AttemptTimeout, 20*time.Second)
	setDefault(&config.Deadline, 60*time.Second)
	setDefault(&config.RetryDelay, 250*time.Millisecond)
	if config.Now == nil {
		config.Now = time.Now
	}
	tokens := map[authorization]*token{}
	for _, auth := range []authorization{authToken, authConnect} {
		tokens[auth] = &token{lock: make(chan struct{}, 1)}
	}
	return &Client{config: config, tokens: tokens, listeners: map[string]map[chan struct{}]bool{}}, nil
}

func setDefault(duration *time.Duration, otherwise time.Duration) {
	if *duration <= 0 {
		*duration = otherwise
	}
}

// --- Values -------------------------------------------------------------------------------------------

// Decimal is an exact decimal number as text, such as "12.50". A float does not compile as one.
type Decimal string

// Secret is text that formatting does not show.
type Secret string

// DateOrTime is a date ("2026-01-31") or an RFC 3339 time.
type DateOrTime string

// Nullable is a member of a merge patch: nil keeps the member, [Set] changes it and [Null] removes it.
type Nullable[T any] map[bool]T

var decimalPattern = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?$`)

// MarshalJSON refuses text that is not a decimal number.
func (d Decimal) MarshalJSON() ([]byte, error) {
	if !decimalPattern.MatchString(string(d)) {
		return nil, fmt.Errorf("%q is not a decimal number such as \"12.50\"", string(d))
	}
	return json.Marshal(string(d))
}

// String returns a placeholder.
func (s Secret) String() string { return "[secret]" }

// GoString returns a placeholder.
func (s Secret) GoString() string { return `"[secret]"` }

// At returns a time for a filter or a period.
func At(t time.Time) DateOrTime { return DateOrTime(t.UTC().Format("2006-01-02T15:04:05.000Z")) }

// Ptr returns a pointer to the value, for optional members.
func Ptr[T any](value T) *T { return &value }

// Set changes a member of a merge patch.
func Set[T any](value T) Nullable[T] { return Nullable[T]{true: value} }

// Null removes a member in a merge patch.
func Null[T any]() Nullable[T] { return Nullable[T]{false: *new(T)} }

// MarshalJSON writes the value, or null.
func (n Nullable[T]) MarshalJSON() ([]byte, error) {
	if value, found := n[true]; found {
		return json.Marshal(value)
	}
	return []byte("null"), nil
}

// UnmarshalJSON reads a value, or null.
func (n *Nullable[T]) UnmarshalJSON(data []byte) error {
	*n = Null[T]()
	if string(data) == "null" {
		return nil
	}
	var value T
	err := json.Unmarshal(data, &value)
	*n = Set(value)
	return err
}

// Values is free-form JSON whose numbers are integers or [Decimal].
type Values map[string]any

// MarshalJSON refuses floats, which cannot represent most decimal fractions.
func (v Values) MarshalJSON() ([]byte, error) {
	for name, value := range v {
		switch value.(type) {
		case float32, float64:
			return nil, fmt.Errorf("%s is a float; use a decimal string such as \"12.50\"", name)
		}
	}
	return json.Marshal(map[string]any(v))
}

// --- Errors -------------------------------------------------------------------------------------------

// ErrInvalid is the error of an invalid argument. Nothing was sent.
var ErrInvalid = errors.New("coffer: invalid argument")

// Problem is an error response.
type Problem struct {
	Status     int           // HTTP status
	Slug       string        // kind of the problem, such as [SlugInsufficientFunds]; empty if the body is not a problem
	Title      string        // short text of the kind
	Detail     string        // what is wrong in this request
	Errors     []FieldError  // errors of single fields
	RequestID  string        // name it when you contact the operator
	RetryAfter time.Duration // least wait before a repetition, if the server named one
}

// Error describes the problem.
func (p *Problem) Error() string {
	text := p.Detail
	if text == "" {
		text = p.Title
	}
	return fmt.Sprintf("coffer: %s: %s (request %s)", strings.TrimSpace(fmt.Sprint(p.Status, " ", p.Slug)), text,
		p.RequestID)
}

// IsProblem reports whether the error is a problem of this kind, such as [SlugInsufficientFunds].
func IsProblem(err error, slug string) bool {
	var problem *Problem
	return errors.As(err, &problem) && problem.Slug == slug
}

// ConnectionError says that a request got no response. If MaybeDone is set, the server can have processed it: repeat a
// payment with the same TransactionID, or find it by that ID in the list of transactions.
type ConnectionError struct {
	Err       error
	MaybeDone bool
}

// Error describes the failure.
func (e *ConnectionError) Error() string {
	if e.MaybeDone {
		return fmt.Sprintf("coffer: no response, so the request may have been processed: %v", e.Err)
	}
	return fmt.Sprintf("coffer: no connection: %v", e.Err)
}

// Unwrap returns the cause.
func (e *ConnectionError) Unwrap() error { return e.Err }

// parseProblem reads a problem, or the envelope of the business routes.
func parseProblem(response *http.Response, body []byte) *Problem {
	var seen struct {
		ProblemDetails
		Message string `json:"message"` // of the envelope: "CODE: text"
	}
	problem := &Problem{Status: response.StatusCode, Title: http.StatusText(response.StatusCode)}
	if json.Unmarshal(body, &seen) == nil {
		problem.Detail, problem.Errors, problem.RequestID = seen.Detail, seen.Errors, seen.RequestID
		if seen.Title != "" {
			problem.Title = seen.Title
		}
		if strings.HasPrefix(seen.Type, "urn:coffer:problem:") {
			problem.Slug = strings.TrimPrefix(seen.Type, "urn:coffer:problem:")
		} else if code, text, found := strings.Cut(seen.Message, ": "); found {
			problem.Slug, problem.Detail = strings.ReplaceAll(strings.ToLower(code), "_", "-"), text
		}
	}
	if problem.RequestID == "" {
		problem.RequestID = response.Header.Get("X-Request-Id")
	}
	if seconds, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil && seconds > 0 {
		problem.RetryAfter = time.Duration(seconds) * time.Second
	}
	return problem
}

// --- Requests -----------------------------------------------------------------------------------------

type authorization int

const (
	authPublic authorization = iota
	authToken
	authConnect
)

// call is a request. A request that is not repeatable is repeated only if the server did nothing.
type call struct {
	method     string
	path       string
	query      any
	body       any
	form       bool
	auth       authorization
	repeatable bool
	success    int // a status other than 2xx that has a result
	envelope   bool
	decoded    bool // the response is JSON; one that is not counts as lost
}

// pathOf fills the parameters into a path. An empty one would name another resource.
func pathOf(format string, values ...string) (string, error) {
	escaped := make([]any, len(values))
	for i, value := range values {
		if value == "" || value == "." || value == ".." {
			return "", fmt.Errorf("%w: %q is not an ID", ErrInvalid, value)
		}
		escaped[i] = strings.ReplaceAll(url.QueryEscape(value), "+", "%20")
	}
	return fmt.Sprintf(format, escaped...), nil
}

// form encodes a struct of scalars by its JSON names. An object has one parameter per member.
func form(value any) (url.Values, error) {
	encoded, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(encoded))
	decoder.UseNumber()
	var members map[string]any
	if err := decoder.Decode(&members); err != nil {
		return nil, err
	}
	values := url.Values{}
	for name, member := range members {
		object, nested := member.(map[string]any)
		for key, each := range object {
			values.Set(name+"["+key+"]", fmt.Sprint(each))
		}
		if !nested {
			values.Set(name, fmt.Sprint(member))
		}
	}
	return values, nil
}

// fetch makes a call and decodes its result.
func fetch[T any](ctx context.Context, c *Client, call call) (T, error) {
	var result T
	text, isText := any(&result).(*string)
	_, isNothing := any(result).(struct{})
	call.decoded = !isText && !isNothing
	body, err := c.do(ctx, call)
	if err == nil && isText {
		*text = string(body)
	}
	if err != nil || !call.decoded {
		return result, err
	}
	if call.envelope {
		var envelope struct {
			Data json.RawMessage `json:"data"`
		}
		if err = json.Unmarshal(body, &envelope); err == nil {
			body = envelope.Data
		}
	}
	if err == nil {
		err = json.Unmarshal(body, &result)
	}
	if err != nil {
		err = fmt.Errorf("coffer: unexpected response to %s %s: %w", call.method, call.path, err)
	}
	return result, err
}

// do makes a call, with repetitions until the deadline.
func (c *Client) do(ctx context.Context, call call) ([]byte, error) {
	address, contentType, body := c.config.BaseURL+call.path, "application/json", []byte(nil)
	query, err := form(call.query)
	if err == nil && len(query) > 0 {
		address += "?" + query.Encode()
	}
	if err == nil && call.body != nil && call.form {
		var values url.Values
		values, err = form(call.body)
		contentType, body = "application/x-www-form-urlencoded", []byte(values.Encode())
	} else if err == nil && call.body != nil {
		body, err = json.Marshal(call.body)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %v", ErrInvalid, err)
	}
	ctx, cancel := context.WithTimeout(ctx, c.config.Deadline)
	defer cancel()
	renewed, lost, delay := false, false, c.config.RetryDelay
	for {
		authorized, err := c.authorize(ctx, call.auth)
		if err != nil {
			return nil, err
		}
		response, err := c.attempt(ctx, call, address, contentType, body, authorized)
		if err == nil {
			return response, nil
		}
		var connection *ConnectionError
		lost = lost || (errors.As(err, &connection) && connection.MaybeDone)
		var problem *Problem
		isProblem := errors.As(err, &problem)
		if isProblem && problem.Status == http.StatusNotFound && call.method == http.MethodDelete && lost && !call.decoded {
			return nil, nil // the attempt without a response has deleted it
		}
		if isProblem && problem.Status == http.StatusUnauthorized && call.auth != authPublic && !renewed {
			renewed = true
			c.forget(call.auth, authorized)
			continue
		}
		if !isRepeatable(err, problem, call.repeatable) {
			return nil, err
		}
		if delay *= 2; delay > 16*time.Second {
			delay = 16 * time.Second
		}
		wait := delay/4 + time.Duration(time.Now().UnixNano())%(delay/4) // half to all of the delay, at random
		if isProblem {
			wait += problem.RetryAfter
		}
		if end, _ := ctx.Deadline(); time.Until(end) < wait || !sleep(ctx, wait, nil) {
			return nil, err
		}
	}
}

// isRepeatable: after 429 and 503, and without a connection, the server has done nothing.
func isRepeatable(err error, problem *Problem, repeatable bool) bool {
	if problem != nil {
		switch problem.Status {
		case http.StatusTooManyRequests, http.StatusServiceUnavailable:
			return true
		case http.StatusRequestTimeout, http.StatusBadGateway, http.StatusGatewayTimeout:
			return repeatable
		}
		return false
	}
	var connection *ConnectionError
	return errors.As(err, &connection) && !isUntrusted(err) && (repeatable || !connection.MaybeDone)
}

// isUntrusted reports whether the certificate of the server was rejected.
func isUntrusted(err error) bool {
	var authority x509.UnknownAuthorityError
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	return errors.As(err, &authority) || errors.As(err, &host) || errors.As(err, &invalid)
}

// attempt sends a request once.
func (c *Client) attempt(ctx context.Context, call call, address, contentType string, body []byte, bearer Secret) (
	[]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, c.config.AttemptTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, call.method, address, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("%w: %v", ErrInvalid, err)
	}
	request.Header.Set("User-Agent", "coffer-go/"+Version)
	if body != nil {
		request.Header.Set("Content-Type", contentType)
	}
	if call.auth != authPublic {
		key := c.config.APIKey
		if call.auth == authConnect {
			key = c.config.ConnectSecret
		}
		request.Header.Set("x-svc-auth", string(key))
		request.Header.Set("Authorization", "Bearer "+string(bearer))
	}
	response, err := c.config.HTTPClient.Do(request)
	if err != nil {
		var operation *net.OpError
		isUnsent := isUntrusted(err) || (errors.As(err, &operation) && operation.Op == "dial")
		return nil, &ConnectionError{err, !isUnsent}
	}
	defer response.Body.Close()
	received, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, &ConnectionError{err, true}
	}
	if response.StatusCode/100 != 2 && response.StatusCode != call.success {
		return nil, parseProblem(response, received)
	}
	if call.decoded && !json.Valid(received) {
		return nil, &ConnectionError{errors.New("the response is not JSON"), true}
	}
	return received, nil
}

// sleep waits, at most until a wake. It returns false if the context has ended.
func sleep(ctx context.Context, delay time.Duration, wake <-chan struct{}) bool {
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-wake:
		return true
	case <-ctx.Done():
		return false
	}
}

// --- Tokens -------------------------------------------------------------------------------------------

// authorize returns a bearer token, and renews it before it ends.
func (c *Client) authorize(ctx context.Context, auth authorization) (Secret, error) {
	if auth == authPublic {
		return "", nil
	}
	kept := c.tokens[auth]
	select {
	case kept.lock <- struct{}{}:
	case <-ctx.Done():
		return "", &ConnectionError{ctx.Err(), false}
	}
	defer func() { <-kept.lock }()
	if kept.value != "" && c.config.Now().Before(kept.renewAt) {
		return kept.value, nil
	}
	asked, seconds := c.config.Now(), int64(0)
	if auth == authConnect {
		session, err := c.SignIn(ctx, SignIn{PublicKey: c.config.PublicKey, Secret: c.config.SignInSecret})
		if err != nil {
			return "", err
		}
		kept.value, seconds = session.IDToken, session.ExpiresIn
	} else {
		token, err := c.CreateToken(ctx, TokenRequest{
			ClientID: c.config.ClientID, ClientSecret: c.config.ClientSecret, Scope: c.config.Scope})
		if err != nil {
			return "", err
		}
		kept.value, seconds = token.AccessToken, token.ExpiresIn
	}
	life := time.Duration(seconds) * time.Second
	margin := life / 10
	if margin > time.Minute {
		margin = time.Minute
	}
	kept.renewAt = asked.Add(life - margin) // comparisons of two times use the monotonic clock
	return kept.value, nil
}

// forget drops a token that the server refused, unless it was renewed in the meantime.
func (c *Client) forget(auth authorization, refused Secret) {
	kept := c.tokens[auth]
	kept.lock <- struct{}{}
	if kept.value == refused {
		kept.value = ""
	}
	<-kept.lock
}

// --- Pages --------------------------------------------------------------------------------------------

// Iterator reads the rows of all pages:
//
//	payments := client.ListTransactions(coffer.ListTransactionsParams{})
//	for payments.Next(ctx) {
//		fmt.Println(payments.Value().ID)
//	}
//	if err := payments.Err(); err != nil { … }
type Iterator[T any] struct {
	fetch  func(ctx context.Context, cursor string) ([]T, *string, error)
	rows   []T
	value  T
	cursor string
	last   bool
	err    error
}

// Next advances to the next row. It returns false after the last row and after an error.
func (it *Iterator[T]) Next(ctx context.Context) bool {
	for len(it.rows) == 0 && !it.last && it.err == nil { // a page can be empty and not the last
		var next *string
		it.rows, next, it.err = it.fetch(ctx, it.cursor)
		if it.last = next == nil; !it.last {
			it.cursor = *next
		}
	}
	if it.err != nil || len(it.rows) == 0 {
		return false
	}
	it.value, it.rows = it.rows[0], it.rows[1:]
	return true
}

// Value returns the row.
func (it *Iterator[T]) Value() T { return it.value }

// Err returns the error that ended the iteration, or nil.
func (it *Iterator[T]) Err() error { return it.err }

// --- Payments -----------------------------------------------------------------------------------------

// IsFinal reports whether the status of a payment no longer changes, except by a later return of a payout.
func (s TransactionStatus) IsFinal() bool {
	switch s {
	case TransactionStatusSucceeded, TransactionStatusFailed, TransactionStatusRefunded,
		TransactionStatusRefundFailed, TransactionStatusExpired:
		return true
	}
	return false
}

// WaitForPayment waits until the status of a payment is final, at most until the context ends, and returns the
// record as last read. It reads the record at each interval (0: one second), and as soon as [Client.Notify] gets an
// event of it.
func (c *Client) WaitForPayment(ctx context.Context, transactionRecordID string, interval time.Duration) (
	*Transaction, error) {
	setDefault(&interval, time.Second)
	wake := make(chan struct{}, 1)
	c.mutex.Lock()
	if c.listeners[transactionRecordID] == nil {
		c.listeners[transactionRecordID] = map[chan struct{}]bool{}
	}
	c.listeners[transactionRecordID][wake] = true
	c.mutex.Unlock()
	defer func() {
		c.mutex.Lock()
		defer c.mutex.Unlock()
		delete(c.listeners[transactionRecordID], wake)
		if len(c.listeners[transactionRecordID]) == 0 {
			delete(c.listeners, transactionRecordID)
		}
	}()
	var last *Transaction
	for {
		transaction, err := c.GetTransaction(ctx, transactionRecordID)
		if err == nil {
			last = transaction
		}
		if err == nil && last.Status.IsFinal() || err != nil && ctx.Err() == nil {
			return last, err
		}
		if err != nil || !sleep(ctx, interval, wake) {
			return last, fmt.Errorf("coffer: the payment has no final status yet: %w", ctx.Err())
		}
	}
}

// Notify passes a verified event on to the calls of [Client.WaitForPayment] that wait for its payment.
func (c *Client) Notify(event *Event) {
	if event == nil || event.Payment == nil {
		return
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	for wake := range c.listeners[event.Payment.Data.ID] {
		select {
		case wake <- struct{}{}:
		default:
		}
	}
}

// --- Webhooks -----------------------------------------------------------------------------------------

// ErrWebhook is the error of a delivery that is not verified.
var ErrWebhook = errors.New("coffer: the webhook is not verified")

// Verifier verifies webhook deliveries (Standard Webhooks).
type Verifier struct {
	Secrets   []Secret         // whsec_…; during a rotation, both
	Tolerance time.Duration    // largest difference between timestamp and clock; default 5 minutes
	Now       func() time.Time // for tests; default time.Now
}

// Verify returns the event of a delivery. The body contains the raw bytes as received. Respond 401 to an error, and act
// on each event once: a delivery can repeat with the same webhook-id.
func (v Verifier) Verify(header http.Header, body []byte) (*Event, error) {
	id, timestamp := header.Get("webhook-id"), header.Get("webhook-timestamp")
	signatures := header.Get("webhook-signature")
	if id == "" || timestamp == "" || signatures == "" {
		return nil, fmt.Errorf("%w: a webhook header is missing", ErrWebhook)
	}
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || seconds < 0 || seconds > 1<<40 {
		return nil, fmt.Errorf("%w: webhook-timestamp is not a time in seconds", ErrWebhook)
	}
	setDefault(&v.Tolerance, 5*time.Minute)
	if v.Now == nil {
		v.Now = time.Now
	}
	if age := v.Now().Sub(time.Unix(seconds, 0)); age > v.Tolerance || age < -v.Tolerance {
		return nil, fmt.Errorf("%w: its time differs from the clock by %s", ErrWebhook, age)
	}
	for _, secret := range v.Secrets {
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(string(secret), "whsec_"))
		if err != nil || len(key) == 0 {
			return nil, fmt.Errorf("%w: a webhook secret is not whsec_ and base64", ErrInvalid)
		}
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(id + "." + timestamp + "."))
		mac.Write(body)
		expected := []byte("v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)))
		for _, given := range strings.Split(signatures, " ") {
			if hmac.Equal([]byte(given), expected) {
				event := &Event{}
				if err := json.Unmarshal(body, event); err != nil {
					return nil, fmt.Errorf("%w: %v", ErrWebhook, err)
				}
				return event, nil
			}
		}
	}
	return nil, fmt.Errorf("%w: no signature matches", ErrWebhook)
}
