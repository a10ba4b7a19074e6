import { signal } from '@preact/signals'
import type { ClusterView } from '../server/cluster-view.ts'
import { applyChange, type ViewChange } from '../server/view-change.ts'
import { askServer, rememberToken } from './ask-server.ts'
import { readEvents } from './read-events.ts'

export type ConnectionState = 'connecting' | 'live' | 'reconnecting' | 'signed-out'

export const connection = signal<ConnectionState>('connecting')
export const view = signal<ClusterView | undefined>(undefined)
export const clusterName = signal('')
/** What actions are sent with; empty where the page only reads. */
export const actionToken = signal('')
/** The server's time, for ages: the browser's own clock may be wrong. */
export const now = signal(Date.now())

/** When the server was heard last, by its own time. */
export const asOf = signal(0)

/** Why the last token was refused; empty when none was. */
export const refusedWith = signal('')

let hasToken = false
let serverAheadMs = 0
const silenceMs = 40_000
const retryMs = 1_000

interface Stamped {
  readonly at: number
}

interface Snapshot {
  readonly cluster: string
  /** In the demo alone. */
  readonly actionToken?: string
  readonly view: ClusterView
}

/** Follows the server for as long as the page is open: a full picture first, then what changes, again after every cut. */
export function followCluster(): void {
  setInterval(() => {
    now.value = Date.now() + serverAheadMs
  }, 1000)
  void connect()
}

/** Goes on with this token. */
export function signIn(token: string): void {
  rememberToken(token)
  hasToken = true
  connection.value = 'connecting'
  void connect()
}

async function connect(): Promise<void> {
  const ending = new AbortController()
  let silence = setTimeout(() => ending.abort(), silenceMs)
  try {
    const response = await askServer('/api/stream', ending.signal)
    if (response.status === 401) return signOut(hasToken ? await response.text() : '')
    if (response.status === 403) return signOut(await response.text())
    if (response.ok && response.body !== null) {
      for await (const { type, data } of readEvents(response.body)) {
        clearTimeout(silence)
        silence = setTimeout(() => ending.abort(), silenceMs)
        receive(type, JSON.parse(data))
      }
    }
  } catch {
    // A cut, or silence: tried again.
  } finally {
    clearTimeout(silence)
  }
  connection.value = view.value === undefined ? 'connecting' : 'reconnecting'
  setTimeout(() => void connect(), retryMs)
}

/** Whoever may not see the facts any more does not go on seeing the last ones. */
function signOut(why: string): void {
  refusedWith.value = why.trim()
  rememberToken('')
  view.value = undefined
  connection.value = 'signed-out'
}

function receive(type: string, message: Stamped & Partial<Snapshot> & { readonly change?: ViewChange }): void {
  serverAheadMs = message.at - Date.now()
  asOf.value = message.at
  if (type === 'snapshot') {
    clusterName.value = message.cluster ?? ''
    actionToken.value = message.actionToken ?? ''
    view.value = message.view
    now.value = message.at
    connection.value = 'live'
  } else if (type === 'change' && message.change !== undefined && view.value !== undefined) {
    view.value = applyChange(view.value, message.change)
  }
}
