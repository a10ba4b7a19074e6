import { useEffect, useRef, useState } from 'preact/hooks'
import { ActionButtons } from './action-buttons.tsx'
import { askServer } from './ask-server.ts'
import { PaintedText, plainText } from './painted-text.tsx'
import { closeObject, isPlanOpen, openObject } from './route.ts'

interface Answer {
  readonly of: string
  readonly code: number
  readonly text: string
}

const againMs = 5_000

/** What `cofferdam explain` prints about the object in the address, asked again for as long as it is open. */
export function ExplanationPanel() {
  const object = isPlanOpen.value ? undefined : openObject.value
  const [answer, setAnswer] = useState<Answer | undefined>(undefined)
  const panel = useRef<HTMLElement>(null)
  useEffect(() => {
    if (object === undefined) return
    panel.current?.focus()
    const ending = new AbortController()
    const ask = async () => {
      try {
        const response = await askServer(`/api/explain?object=${encodeURIComponent(object)}`, ending.signal)
        const said = response.ok ? await response.json() : { code: 1, text: await response.text() }
        if (!ending.signal.aborted) setAnswer({ of: object, ...said })
      } catch {
        // The last answer stays; the top bar says when the server does not answer.
      }
    }
    void ask()
    const timer = setInterval(() => void ask(), againMs)
    return () => {
      ending.abort()
      clearInterval(timer)
    }
  }, [object])
  if (object === undefined) return null
  return (
    <aside
      ref={panel}
      class="explanation"
      aria-label={`Explanation of ${object}`}
      tabIndex={-1}
      onKeyDown={(event) => {
        if (event.key === 'Escape') closeObject()
      }}
    >
      <header class="explanation-head">
        <h2>{object}</h2>
        <button type="button" class="close" onClick={closeObject} aria-label="Close the explanation">
          ×
        </button>
      </header>
      {answer?.of === object ? <Explained text={answer.text} /> : <p class="soft">Reading the cluster…</p>}
      <ActionButtons object={object} />
      <p class="soft command">
        The same in a terminal: <code>cofferdam explain {object}</code>
      </p>
    </aside>
  )
}

/** Tables keep their columns and scroll; everything else wraps. */
function Explained({ text }: { text: string }) {
  const parts = text.trim().split('\n\n')
  return (
    <div class="explained" role="status">
      {parts.map((part, at) =>
        isTable(part) ? (
          // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
          <pre key={at} class="table-frame" tabIndex={0}>
            <PaintedText text={part} />
          </pre>
        ) : (
          <div key={at} class={at === 0 ? 'answer' : 'paragraph'}>
            {part.split('\n').map((line, index) => (
              <Line key={index} line={line} />
            ))}
          </div>
        ),
      )}
    </div>
  )
}

function isTable(part: string): boolean {
  return /^[A-Z]{2,}(\s{2,}[A-Z ]+)+$/.test(plainText(part.split('\n', 1)[0] ?? ''))
}

/** `  storage   rook-ceph/…`: a name, and what is said under it. */
function Line({ line }: { line: string }) {
  const fact = /^ {2}([a-z ]{0,9}?) +(\S.*)$/.exec(line)
  if (fact === null) {
    return (
      <p>
        <PaintedText text={line} />
      </p>
    )
  }
  return (
    <p class="fact">
      <span class="soft">{fact[1]}</span>
      <span>
        <PaintedText text={fact[2] ?? ''} />
      </span>
    </p>
  )
}
