// A help desk: it prints the answer to a question, or serves POST /chat {"text"} -> {"reply"}.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
)

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

func ask(messages []message) (string, error) {
	body, _ := json.Marshal(map[string]any{"model": "gpt-5", "messages": messages})
	url := os.Getenv("OPENAI_BASE_URL") + "/chat/completions"
	request, _ := http.NewRequest("POST", url, bytes.NewReader(body))
	request.Header.Set("content-type", "application/json")
	request.Header.Set("authorization", "Bearer "+os.Getenv("OPENAI_API_KEY"))
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	var said struct {
		Choices []struct {
			Message message `json:"message"`
		} `json:"choices"`
	}
	if err := json.NewDecoder(response.Body).Decode(&said); err != nil {
		return "", err
	}
	if len(said.Choices) == 0 {
		return "", fmt.Errorf("the model answered %s", response.Status)
	}
	return said.Choices[0].Message.Content, nil
}

func chat(w http.ResponseWriter, r *http.Request) {
	var asked struct{ Text string }
	json.NewDecoder(r.Body).Decode(&asked)
	text, err := ask([]message{{"user", asked.Text}})
	if err != nil {
		http.Error(w, err.Error(), 502)
		return
	}
	json.NewEncoder(w).Encode(map[string]string{"reply": text})
}

func main() {
	if os.Args[1] == "serve" {
		http.HandleFunc("/chat", chat)
		fmt.Fprintln(os.Stderr, http.ListenAndServe("127.0.0.1:"+os.Args[2], nil))
		os.Exit(1)
	}
	text, err := ask([]message{{"user", os.Args[1]}})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(text)
}
