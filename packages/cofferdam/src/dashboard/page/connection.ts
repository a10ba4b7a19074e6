import { signal } from '@preact/signals'
import type { ClusterView } from '../server/cluster-view.ts'
import { applyChange, type ViewChange } from '../server/view-change.ts'

export type ConnectionState = 'connecting' | 'live' | 'reconnecting'

export const connection = signal<ConnectionState>('connecting')
export const view = signal<ClusterView | undefined>(undefined)
export const clusterName = signal('')
/** What actions are sent with; empty where the page only reads. */
export const actionToken = signal('')
/** The server's time, for ages: the browser's own clock may be wrong. */
export const now = signal(Date.now())

/** When the server was heard last, by its own time. */
export const asOf = signal(0)

let serverAheadMs = 0
const silenceMs = 40_000
const retryMs = 2_000

interface Stamped {
  readonly at: number
}

/** Follows the server for as long as the page is open: a full picture first, then what changes, again after every cut. */
export function followCluster(): void {
  setInterval(() => {
    now.value = Date.now() + serverAheadMs
  }, 1000)
  connect()
}

function connect(): void {
  const source = new EventSource('/api/stream')
  let silence = setTimeout(again, silenceMs)

  function again() {
    clearTimeout(silence)
    source.close()
    connection.value = view.value === undefined ? 'connecting' : 'reconnecting'
    setTimeout(connect, retryMs)
  }
  function on<Message extends Stamped>(type: string, receive: (message: Message) => void) {
    source.addEventListener(type, (event: MessageEvent<string>) => {
      const message = JSON.parse(event.data) as Message
      serverAheadMs = message.at - Date.now()
      asOf.value = message.at
      clearTimeout(silence)
      silence = setTimeout(again, silenceMs)
      receive(message)
    })
  }
  on<Stamped & { cluster: string; actionToken?: string; view: ClusterView }>('snapshot', (message) => {
    clusterName.value = message.cluster
    actionToken.value = message.actionToken ?? ''
    view.value = message.view
    now.value = message.at
    connection.value = 'live'
  })
  on<Stamped & { change: ViewChange }>('change', (message) => {
    if (view.value !== undefined) view.value = applyChange(view.value, message.change)
  })
  on('heartbeat', () => {})
  source.onerror = () => {
    // The browser tries again by itself after a cut, but not after a refusal.
    if (source.readyState === EventSource.CLOSED) again()
    else if (view.value !== undefined) connection.value = 'reconnecting'
  }
}
