package bucket

import (
	"cmp"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/bentobuild/bento/cache/remote/transport"
)

// maxAnswer is the size of the largest answer with credentials, in bytes.
const maxAnswer = 64 << 10

// role is a role that a web identity may have.
type role struct{ arn, session, file, region string }

// webIdentity gets credentials from AWS's token service for a token in a file, as GitHub Actions and Kubernetes write it.
func (o *Options) webIdentity(r role) (provider, error) {
	region := cmp.Or(r.region, defaultRegion)
	if err := checkRegion(region); err != nil {
		return nil, err
	}
	address := cmp.Or(o.Lookup("AWS_ENDPOINT_URL_STS"), "https://sts."+region+"."+domain(region))
	u, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("AWS_ENDPOINT_URL_STS is no URL")
	}
	client, err := o.client(transport.Options{Address: u})
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) (keys, error) {
		token, err := readFile(r.file, maxToken)
		if err != nil {
			return keys{}, err
		}
		form := url.Values{"Action": {"AssumeRoleWithWebIdentity"}, "Version": {"2011-06-15"}, "RoleArn": {r.arn},
			"RoleSessionName": {cmp.Or(r.session, "bento")}, "WebIdentityToken": {strings.TrimSpace(string(token))}}
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, u.Scheme+"://"+u.Host+"/", strings.NewReader(form.Encode()))
		if err != nil {
			return keys{}, err
		}
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		data, err := ask(client, req)
		if err != nil {
			return keys{}, err
		}
		return parseRole(data)
	}, nil
}

// ask sends a request and returns its small answer.
func ask(client *transport.Client, req *http.Request) ([]byte, error) {
	res, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	if res.StatusCode != http.StatusOK {
		return nil, refusal(res)
	}
	if err := transport.Expect(res, http.StatusOK); err != nil {
		return nil, err
	}
	return transport.Small(res, maxAnswer)
}

// parseRole reads the answer of AssumeRoleWithWebIdentity.
func parseRole(data []byte) (keys, error) {
	var doc struct {
		ID      string `xml:"AssumeRoleWithWebIdentityResult>Credentials>AccessKeyId"`
		Secret  string `xml:"AssumeRoleWithWebIdentityResult>Credentials>SecretAccessKey"`
		Session string `xml:"AssumeRoleWithWebIdentityResult>Credentials>SessionToken"`
		Expires string `xml:"AssumeRoleWithWebIdentityResult>Credentials>Expiration"`
	}
	if err := xml.Unmarshal(data, &doc); err != nil {
		return keys{}, errors.New("the answer of AWS's token service is no XML")
	}
	return checkKeys(doc.ID, doc.Secret, doc.Session, doc.Expires)
}

func checkKeys(id, secret, session, expires string) (keys, error) {
	k := keys{ID: id, Secret: secret, Session: session}
	if id == "" || secret == "" {
		return keys{}, errors.New("the answer has no credentials")
	}
	if _, err := fixed(k); err != nil {
		return keys{}, err
	}
	var err error
	if expires != "" {
		if k.Expires, err = time.Parse(time.RFC3339, expires); err != nil {
			return keys{}, errors.New("the answer does not say when the credentials expire")
		}
	}
	return k, nil
}

// The hosts of clouds that have credentials for the programs on a machine of theirs. They have no TLS.
const (
	taskHost    = "http://169.254.170.2"
	machineHost = "http://169.254.169.254"
)

// container gets credentials from the agent of Amazon's ECS or EKS.
func (o *Options) container() (provider, error) {
	address := o.Lookup("AWS_CONTAINER_CREDENTIALS_FULL_URI")
	if path := o.Lookup("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"); path != "" {
		address = taskHost + "/" + strings.TrimPrefix(path, "/")
	}
	u, err := url.Parse(address)
	if err != nil {
		return nil, errors.New("AWS_CONTAINER_CREDENTIALS_FULL_URI is no URL")
	}
	client, err := o.client(transport.Options{Address: u, Agent: true})
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) (keys, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
		if err != nil {
			return keys{}, err
		}
		token := o.Lookup("AWS_CONTAINER_AUTHORIZATION_TOKEN")
		if file := o.Lookup("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"); file != "" {
			data, err := readFile(file, maxToken)
			if err != nil {
				return keys{}, err
			}
			token = strings.TrimSpace(string(data))
		}
		if token != "" {
			req.Header.Set("Authorization", token)
		}
		data, err := ask(client, req)
		if err != nil {
			return keys{}, err
		}
		return parseAgent(data)
	}, nil
}

// machine gets the credentials of the machine from Amazon's EC2, by version 2 of its protocol.
func (o *Options) machine() (provider, error) {
	u, err := url.Parse(cmp.Or(o.Lookup("AWS_EC2_METADATA_SERVICE_ENDPOINT"), machineHost))
	if err != nil {
		return nil, errors.New("AWS_EC2_METADATA_SERVICE_ENDPOINT is no URL")
	}
	client, err := o.client(transport.Options{Address: u, Agent: true})
	if err != nil {
		return nil, err
	}
	base := u.Scheme + "://" + u.Host
	return func(ctx context.Context) (keys, error) {
		get := func(method, path, header, value string) ([]byte, error) {
			req, err := http.NewRequestWithContext(ctx, method, base+path, nil)
			if err != nil {
				return nil, err
			}
			req.Header.Set(header, value)
			return ask(client, req)
		}
		token, err := get(http.MethodPut, "/latest/api/token", "X-Aws-Ec2-Metadata-Token-Ttl-Seconds", "21600")
		if err != nil {
			return keys{}, err
		}
		const list, header = "/latest/meta-data/iam/security-credentials/", "X-Aws-Ec2-Metadata-Token"
		names, err := get(http.MethodGet, list, header, string(token))
		if err != nil {
			return keys{}, err
		}
		name, _, _ := strings.Cut(string(names), "\n")
		data, err := get(http.MethodGet, list+url.PathEscape(name), header, string(token))
		if err != nil {
			return keys{}, err
		}
		return parseAgent(data)
	}, nil
}

// parseAgent reads the credentials of a container or a machine.
func parseAgent(data []byte) (keys, error) {
	var doc struct {
		AccessKeyId, SecretAccessKey, Token, Expiration string //nolint // names of the wire
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		return keys{}, errors.New("the answer with credentials is no JSON")
	}
	return checkKeys(doc.AccessKeyId, doc.SecretAccessKey, doc.Token, doc.Expiration)
}

// refusal reads the answer of a server of AWS that is an error, and closes it.
func refusal(res *http.Response) *transport.Refusal {
	r := transport.Refused(res)
	text, _ := io.ReadAll(io.LimitReader(res.Body, 16<<10))
	res.Body.Close()
	code, message := parseError(text)
	r.Code, r.Text = code, transport.Line(message)
	return r
}

// parseError reads S3's and the token service's errors.
func parseError(data []byte) (code, message string) {
	var doc struct {
		Code    string `xml:"Code"`
		Message string `xml:"Message"`
		Inner   struct {
			Code    string `xml:"Code"`
			Message string `xml:"Message"`
		} `xml:"Error"`
	}
	if xml.Unmarshal(data, &doc) != nil {
		return "", ""
	}
	code = cmp.Or(doc.Code, doc.Inner.Code)
	if len(code) > 64 {
		code = ""
	}
	return code, cmp.Or(doc.Message, doc.Inner.Message)
}
