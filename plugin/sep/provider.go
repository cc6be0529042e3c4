package sep

import (
	"context"
	"errors"
	"time"
)

// Provider answers for the messages and contacts of the contract, which was made for a chat program.
// Its methods are called concurrently, and return when ctx is done. An error that wraps
// ErrUnavailable is answered as unavailable, any other one as internal, without its text.
type Provider interface {
	Messages(ctx context.Context, q MessageQuery) (MessagePage, error)
	Contacts(ctx context.Context, q ContactQuery) (ContactPage, error)
	Send(ctx context.Context, m Outgoing) (Sent, error)
}

// ErrUnavailable is wrapped by the error of a function that a provider does not offer.
var ErrUnavailable = errors.New("not offered by bento")

// MessageQuery asks for one page of messages, the newest.
type MessageQuery struct {
	Conversation string `json:"conversation"` // "" for all
	Limit        int    `json:"limit"`        // 1 to 200
	Before       string `json:"before"`       // cursor: MessagePage.Next of the page before; "" for the newest
}

// Message is one message.
type Message struct {
	ID           string    `json:"id"`
	Conversation string    `json:"conversation"`
	Direction    string    `json:"direction"` // "in" or "out"
	Content      string    `json:"content"`
	Timestamp    time.Time `json:"timestamp"`
}

// MessagePage is one page of messages, oldest first.
type MessagePage struct {
	Messages []Message `json:"messages"`
	Next     string    `json:"next,omitempty"` // "" for no older ones
}

// ContactQuery asks for one page of contacts.
type ContactQuery struct {
	Limit int    `json:"limit"` // 1 to 500
	After string `json:"after"` // cursor: ContactPage.Next of the page before
}

// Contact is one contact.
type Contact struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	LastSeen string `json:"lastSeen,omitempty"` // RFC 3339
}

// ContactPage is one page of contacts, in the order of their ids.
type ContactPage struct {
	Contacts []Contact `json:"contacts"`
	Next     string    `json:"next,omitempty"`
}

// Outgoing is a message to be sent.
type Outgoing struct {
	Destination string         `json:"destination"`
	Content     string         `json:"content"`
	Fields      map[string]any `json:"fields"`
}

// Sent is how a message was sent.
type Sent struct {
	MessageID string `json:"messageId"`
	State     string `json:"state"` // "queued" or "sent"
}

// none offers nothing.
type none struct{}

func (none) Messages(context.Context, MessageQuery) (MessagePage, error) {
	return MessagePage{}, ErrUnavailable
}

func (none) Contacts(context.Context, ContactQuery) (ContactPage, error) {
	return ContactPage{}, ErrUnavailable
}

func (none) Send(context.Context, Outgoing) (Sent, error) { return Sent{}, ErrUnavailable }
