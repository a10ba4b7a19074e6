// Reads and writes the bytes of a volume through the socket of its engine, with the engine's own client.
package main

import (
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/longhorn/longhorn-engine/pkg/dataconn"
	"github.com/longhorn/longhorn-engine/pkg/util"
)

// How many bytes are in one request.
const piece = 1 << 20

// As long as an engine waits for its last replica.
const patience = 16 * time.Second

func main() {
	log.SetFlags(0)
	logrus.SetLevel(logrus.ErrorLevel)
	socket := flag.String("socket", "", "the engine's socket")
	offset := flag.Int64("offset", 0, "where to begin, in bytes")
	length := flag.Int64("length", 0, "sum: how many bytes to read")
	from := flag.String("from", "", "write: the file whose bytes are written")
	flag.Parse()
	conn, err := net.Dial("unix", *socket)
	if err != nil {
		log.Fatal(err)
	}
	client := dataconn.NewClient([]net.Conn{conn}, util.NewSharedTimeouts(patience, patience))
	switch verb := flag.Arg(0); verb {
	case "write":
		err = write(client, *offset, *from)
	case "sum":
		err = sum(client, *offset, *length)
	default:
		err = fmt.Errorf("%q: it is write or sum", verb)
	}
	if err != nil {
		log.Fatal(err)
	}
}

func write(to io.WriterAt, offset int64, from string) error {
	file, err := os.Open(from)
	if err != nil {
		return err
	}
	for {
		// The client may hold on to what it was given.
		buffer := make([]byte, piece)
		count, err := io.ReadFull(file, buffer)
		if count > 0 {
			if _, err := to.WriteAt(buffer[:count], offset); err != nil {
				return fmt.Errorf("writing at %d: %w", offset, err)
			}
			offset += int64(count)
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// Prints the SHA-256 of what is read.
func sum(from io.ReaderAt, offset, length int64) error {
	hash := sha256.New()
	for end := offset + length; offset < end; {
		buffer := make([]byte, min(piece, end-offset))
		if _, err := from.ReadAt(buffer, offset); err != nil {
			return fmt.Errorf("reading at %d: %w", offset, err)
		}
		hash.Write(buffer)
		offset += int64(len(buffer))
	}
	fmt.Printf("%x\n", hash.Sum(nil))
	return nil
}
