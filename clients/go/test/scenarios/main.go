// Command scenarios executes the scenarios of clients/scenarios.json with the Go client; see clients/README.md.
//
//	go run ./test/scenarios FILE [ROW]...
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"

	"coffer.example/go/coffer"
)

type object = map[string]any

type input struct {
	BaseURL string            `json:"baseUrl"`
	Control string            `json:"control"`
	Keys    map[string]string `json:"keys"`
	Vars    map[string]string `json:"vars"`
	Rows    []row             `json:"rows"`
}

type row struct {
	Name   string `json:"name"`
	Client struct {
		Keys     map[string]string `json:"keys"`
		BaseURL  string            `json:"baseUrl"`
		Scope    string            `json:"scope"`
		Timeout  float64           `json:"timeout"`
		Deadline float64           `json:"deadline"`
		Clock    float64           `json:"clock"`
	} `json:"client"`
	Steps []json.RawMessage `json:"steps"`
}

type step struct {
	Call      string            `json:"call"`
	List      string            `json:"list"`
	Page      string            `json:"page"`
	Path      map[string]string `json:"path"`
	Query     json.RawMessage   `json:"query"`
	Body      json.RawMessage   `json:"body"`
	Wait      string            `json:"wait"`
	Timeout   float64           `json:"timeout"`
	Meanwhile []json.RawMessage `json:"meanwhile"`
	Webhook   *delivery         `json:"webhook"`
	Control   json.RawMessage   `json:"control"`
	Elapse    float64           `json:"elapse"`
	Expect    any               `json:"expect"`
	Save      map[string]string `json:"save"`
	Error     object            `json:"error"`
}

type delivery struct {
	Secrets []coffer.Secret   `json:"secrets"`
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
	Now     json.Number       `json:"now"`
}

// runner executes the steps of one row.
type runner struct {
	input  *input
	client *coffer.Client
	offset time.Duration // of the client's clock
}

func seconds(value, otherwise float64) time.Duration {
	if value == 0 {
		value = otherwise
	}
	return time.Duration(value * float64(time.Second))
}

// decode reads a part of a step, if there is one, into a type of the client.
func decode(data json.RawMessage, target any) error {
	if len(data) == 0 {
		return nil
	}
	return json.Unmarshal(data, target)
}

func collect[T any](ctx context.Context, rows *coffer.Iterator[T]) (any, error) {
	all := []T{}
	for rows.Next(ctx) {
		all = append(all, rows.Value())
	}
	return all, rows.Err()
}

// plain returns a value in its form on the wire.
func plain(value any) any {
	if text, isText := value.(string); isText {
		return text
	}
	encoded, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return parse(encoded)
}

func parse(data []byte) any {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		panic(err)
	}
	return value
}

// --- Variables and comparison -------------------------------------------------------------------------

var variable = regexp.MustCompile(`\$\{([A-Za-z0-9_]+)\}`)

func (r *runner) fill(value any) any {
	switch value := value.(type) {
	case string:
		return variable.ReplaceAllStringFunc(value, func(name string) string {
			found, known := r.input.Vars[name[2:len(name)-1]]
			if !known {
				panic("no variable " + name)
			}
			return found
		})
	case []any:
		for i := range value {
			value[i] = r.fill(value[i])
		}
	case object:
		for name := range value {
			value[name] = r.fill(value[name])
		}
	}
	return value
}

// difference returns why the value does not match, or "".
func difference(expected, value any, at string) string {
	switch expected := expected.(type) {
	case object:
		if text, found := expected["$contains"]; found {
			if got, isText := value.(string); isText && strings.Contains(got, text.(string)) {
				return ""
			}
			return fmt.Sprintf("%s: %v does not contain %v", at, value, text)
		}
		for name, holds := range map[string]func(got, wanted int64) bool{
			"$length":  func(got, wanted int64) bool { return got == wanted },
			"$atLeast": func(got, wanted int64) bool { return got >= wanted },
		} {
			if number, found := expected[name]; found {
				wanted, _ := number.(json.Number).Int64()
				if got, isArray := value.([]any); isArray && holds(int64(len(got)), wanted) {
					return ""
				}
				return fmt.Sprintf("%s: %v has another length than %s %v", at, value, name, number)
			}
		}
		members, isObject := value.(object)
		if !isObject {
			return fmt.Sprintf("%s: %v is not an object", at, value)
		}
		for name := range expected {
			if fault := difference(expected[name], members[name], at+"."+name); fault != "" {
				return fault
			}
		}
		return ""
	case []any:
		items, isArray := value.([]any)
		if !isArray || len(items) != len(expected) {
			return fmt.Sprintf("%s: %v does not have %d items", at, value, len(expected))
		}
		for i := range expected {
			if fault := difference(expected[i], items[i], at+"."+strconv.Itoa(i)); fault != "" {
				return fault
			}
		}
		return ""
	}
	if expected == "*" && value != nil || reflect.DeepEqual(expected, value) {
		return ""
	}
	return fmt.Sprintf("%s: %v, expected %v", at, value, expected)
}

func find(value any, path string) (string, error) {
	for _, part := range strings.Split(path, ".") {
		switch members := value.(type) {
		case object:
			value = members[part]
		case []any:
			index, err := strconv.Atoi(part)
			if err != nil || index >= len(members) {
				return "", fmt.Errorf("%s not found", path)
			}
			value = members[index]
		}
	}
	if value == nil {
		return "", fmt.Errorf("%s not found", path)
	}
	return fmt.Sprint(value), nil
}

func describe(err error, waiting bool) object {
	var problem *coffer.Problem
	var connection *coffer.ConnectionError
	switch {
	case errors.As(err, &problem):
		fields := object{}
		for _, field := range problem.Errors {
			fields[field.Field] = field.Message
		}
		return object{"kind": "problem", "status": problem.Status, "slug": problem.Slug, "title": problem.Title,
			"detail": problem.Detail, "requestId": problem.RequestID, "errors": fields, "text": err.Error()}
	case waiting && errors.Is(err, context.DeadlineExceeded):
		return object{"kind": "timeout"}
	case errors.As(err, &connection):
		return object{"kind": "connection", "text": err.Error()}
	case errors.Is(err, coffer.ErrWebhook):
		return object{"kind": "webhook", "text": err.Error()}
	case errors.Is(err, coffer.ErrInvalid), errors.As(err, new(*json.UnmarshalTypeError)):
		return object{"kind": "refused", "text": err.Error()}
	}
	return object{"kind": "other", "text": err.Error()}
}

// --- Steps --------------------------------------------------------------------------------------------

func (r *runner) control(body any) (any, error) {
	encoded, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	response, err := http.Post(r.input.Control, "application/json", bytes.NewReader(encoded))
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	var received json.RawMessage
	if err := json.NewDecoder(response.Body).Decode(&received); err != nil {
		return nil, err
	}
	return parse(received), nil
}

func (r *runner) wait(s *step) (any, error) {
	ctx, cancel := context.WithTimeout(context.Background(), seconds(s.Timeout, 20))
	defer cancel()
	if s.Meanwhile == nil {
		return r.client.WaitForPayment(ctx, s.Wait, 50*time.Millisecond)
	}
	type ending struct {
		transaction *coffer.Transaction
		err         error
	}
	ended := make(chan ending, 1)
	go func() {
		transaction, err := r.client.WaitForPayment(ctx, s.Wait, time.Hour)
		ended <- ending{transaction, err}
	}()
	for _, step := range s.Meanwhile {
		if err := r.run(step); err != nil {
			return nil, err
		}
	}
	r.client.Notify(&coffer.Event{Payment: &coffer.PaymentEvent{Data: coffer.Transaction{ID: s.Wait}}})
	last := <-ended
	return last.transaction, last.err
}

func (r *runner) webhook(given *delivery) (any, error) {
	header := http.Header{}
	for name, value := range given.Headers {
		header.Set(name, value)
	}
	now, err := given.Now.Int64()
	if err != nil {
		return nil, err
	}
	verifier := coffer.Verifier{Secrets: given.Secrets, Now: func() time.Time { return time.Unix(now, 0) }}
	return verifier.Verify(header, []byte(given.Body))
}

func (r *runner) perform(s *step) (any, error) {
	switch {
	case s.Wait != "":
		return r.wait(s)
	case s.Webhook != nil:
		return r.webhook(s.Webhook)
	case s.Control != nil:
		return r.control(s.Control)
	case s.Elapse != 0:
		r.offset += seconds(s.Elapse, 0)
		return nil, nil
	}
	name := s.Call + s.List + s.Page
	operation, found := operations[name]
	if !found {
		return nil, fmt.Errorf("unknown operation %q", name)
	}
	return operation(context.Background(), r.client, s)
}

func (r *runner) run(raw json.RawMessage) error {
	filled, err := json.Marshal(r.fill(parse(raw)))
	if err != nil {
		return err
	}
	var s step
	decoder := json.NewDecoder(bytes.NewReader(filled))
	decoder.UseNumber()
	if err := decoder.Decode(&s); err != nil {
		return err
	}
	result, err := r.perform(&s)
	if s.Error != nil {
		if err == nil {
			return fmt.Errorf("no error, expected %v", s.Error)
		}
		if fault := difference(s.Error, plain(describe(err, s.Wait != "")), "error"); fault != "" {
			return errors.New(fault)
		}
		return nil
	}
	if err != nil {
		return err
	}
	wire := plain(result)
	if s.Expect != nil {
		if fault := difference(s.Expect, wire, "result"); fault != "" {
			return errors.New(fault)
		}
	}
	for name, path := range s.Save {
		if r.input.Vars[name], err = find(wire, path); err != nil {
			return err
		}
	}
	return nil
}

func (in *input) run(row *row) (err error) {
	defer func() {
		if failure := recover(); failure != nil {
			err = fmt.Errorf("%v", failure)
		}
	}()
	r := &runner{input: in}
	if _, err := r.control(object{"row": row.Name}); err != nil {
		return err
	}
	keys := map[string]string{}
	for _, source := range []map[string]string{in.Keys, row.Client.Keys} {
		for name, value := range source {
			keys[name] = r.fill(value).(string)
		}
	}
	base := in.BaseURL
	if row.Client.BaseURL != "" {
		base = r.fill(row.Client.BaseURL).(string)
	}
	r.client, err = coffer.New(coffer.Config{
		BaseURL: base, ClientID: keys["clientId"], ClientSecret: coffer.Secret(keys["clientSecret"]),
		APIKey: coffer.Secret(keys["apiKey"]), ConnectSecret: coffer.Secret(keys["connectSecret"]),
		PublicKey: keys["publicKey"], SignInSecret: coffer.Secret(keys["signInSecret"]), Scope: row.Client.Scope,
		AttemptTimeout: seconds(row.Client.Timeout, 20), Deadline: seconds(row.Client.Deadline, 30),
		RetryDelay: 50 * time.Millisecond,
		Now:        func() time.Time { return time.Now().Add(r.offset + seconds(row.Client.Clock, 0)) },
	})
	for i := 0; err == nil && i < len(row.Steps); i++ {
		if err = r.run(row.Steps[i]); err != nil {
			err = fmt.Errorf("step %d: %w", i+1, err)
		}
	}
	return err
}

func main() {
	data, err := os.ReadFile(os.Args[1])
	var in input
	if err == nil {
		err = json.Unmarshal(data, &in)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	wanted := map[string]bool{}
	for _, name := range os.Args[2:] {
		wanted[name] = true
	}
	for i := range in.Rows {
		row := &in.Rows[i]
		if len(wanted) > 0 && !wanted[row.Name] {
			continue
		}
		report := object{"row": row.Name, "ok": true}
		if err := in.run(row); err != nil {
			report["ok"], report["fault"] = false, err.Error()
		}
		line, _ := json.Marshal(report)
		fmt.Println(string(line))
	}
}
