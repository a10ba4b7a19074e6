import { useEffect, useState } from 'preact/hooks'
import type { PageAction } from '../server/action-desk.ts'
import { actionToken, view } from './connection.ts'

/** What the demo lets people do to an object: each button with the command that it runs. Elsewhere the page only reads. */
export function ActionButtons({ object }: { object: string }) {
  const token = actionToken.value
  const [offered, setOffered] = useState<readonly PageAction[]>([])
  const [busy, setBusy] = useState<string | undefined>(undefined)
  const [problem, setProblem] = useState('')
  // What is possible changes with the cluster.
  const changes = view.value
  useEffect(() => {
    if (token === '') return
    const ending = new AbortController()
    const timer = setTimeout(() => void ask(object, ending.signal).then(setOffered, () => {}), 100)
    return () => {
      clearTimeout(timer)
      ending.abort()
    }
  }, [object, token, busy, changes?.nodes, changes?.budgets, changes?.drains])
  useEffect(() => {
    setOffered([])
    setProblem('')
  }, [object])
  if (token === '' || (offered.length === 0 && problem === '')) return null
  const perform = async ({ id }: PageAction) => {
    setBusy(id)
    setProblem(await post({ object, action: id }, token))
    setBusy(undefined)
  }
  return (
    <section class="actions" aria-label={`Actions for ${object}`}>
      <h3>Try it in the demo</h3>
      {problem === '' ? null : (
        <p class="notice alarm" role="alert">
          {problem}
        </p>
      )}
      <ul>
        {offered.map((action) => (
          <li key={action.id}>
            <button type="button" disabled={busy !== undefined} onClick={() => void perform(action)}>
              {action.label}
            </button>
            {action.commands.map((command) => (
              <code key={command}>{command}</code>
            ))}
          </li>
        ))}
      </ul>
    </section>
  )
}

async function ask(object: string, signal: AbortSignal): Promise<readonly PageAction[]> {
  const response = await fetch(`/api/actions?object=${encodeURIComponent(object)}`, { signal })
  return response.ok ? ((await response.json()) as { readonly actions: readonly PageAction[] }).actions : []
}

/** What went wrong, in one line; empty when nothing did. */
async function post(wanted: { readonly object: string; readonly action: string }, token: string): Promise<string> {
  try {
    const response = await fetch('/api/actions', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-cofferdam-token': token },
      body: JSON.stringify(wanted),
    })
    return response.ok ? '' : ((await response.json()) as { readonly error: string }).error
  } catch {
    return 'The server does not answer.'
  }
}
