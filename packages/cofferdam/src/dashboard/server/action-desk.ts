import { timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { StringDecoder } from 'node:string_decoder'

/** Something that a page may have done, with the commands that do it. */
export interface PageAction {
  readonly id: string
  readonly label: string
  /** As one would type them. */
  readonly commands: readonly string[]
}

/** What a page may do to its cluster beside reading it. Only the demo has this. */
export interface PageActions {
  /** What the page has to send with each action: no other site can read it. A new one for every start. */
  readonly token: string
  /** What can be done with an object now. */
  offer(object: string, signal: AbortSignal): Promise<readonly PageAction[]>
  /** Rejects with what went wrong, for people. */
  perform(wanted: { readonly object: string; readonly action: string }, signal: AbortSignal): Promise<void>
}

export interface DeskAnswer {
  readonly code: number
  readonly says: unknown
  readonly headers?: Readonly<Record<string, string>>
}

const mostBodyBytes = 4_096
const objectPattern = /^[a-z]+\/[\w./-]{1,500}$/i

/**
 * Answers `/api/actions`: GET says what can be done with an object, POST does it.
 *
 * Guarantees: nothing is done for another site that a browser has open. The page proves itself with the Origin that the browser
 * sets, with JSON that a form cannot send, and with the token of this start.
 * Assumes: the Host was checked.
 */
export async function answerAction(
  request: IncomingMessage,
  actions: PageActions,
  signal: AbortSignal,
): Promise<DeskAnswer> {
  if (request.method === 'GET' || request.method === 'HEAD') {
    const object = new URL(request.url ?? '/', 'http://page').searchParams.get('object') ?? ''
    if (!objectPattern.test(object)) return refusal(400, 'name an object, as in ?object=node/worker-a1')
    return attempt(async () => ({ actions: await actions.offer(object, signal) }))
  }
  if (request.method !== 'POST') {
    return { ...refusal(405, 'actions take GET and POST'), headers: { allow: 'GET, HEAD, POST' } }
  }
  if (!isFromPage(request, actions.token)) return refusal(403, 'only the page itself may do this; reload it')
  const wanted = parseWanted(await readBody(request))
  if (wanted === undefined) return refusal(400, 'say which object and which action, as JSON')
  return attempt(async () => {
    await actions.perform(wanted, signal)
    return {}
  })
}

async function attempt(work: () => Promise<unknown>): Promise<DeskAnswer> {
  try {
    return { code: 200, says: await work() }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    return refusal(409, message.replaceAll(/\s+/g, ' ').trim())
  }
}

function refusal(code: number, error: string): DeskAnswer {
  return { code, says: { error } }
}

function isFromPage({ headers }: IncomingMessage, token: string): boolean {
  const { origin, host, 'content-type': type = '', 'sec-fetch-site': site = 'same-origin' } = headers
  const sent = headers['x-cofferdam-token']
  return (
    origin === `http://${host}` &&
    site === 'same-origin' &&
    /^application\/json\b/.test(type) &&
    typeof sent === 'string' &&
    isSame(sent, token)
  )
}

function isSame(sent: string, token: string): boolean {
  const [left, right] = [Buffer.from(sent), Buffer.from(token)]
  return left.length === right.length && timingSafeEqual(left, right)
}

/** Undefined: it is too long. */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const decoder = new StringDecoder('utf8')
  let text = ''
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > mostBodyBytes) return undefined
    text += decoder.write(chunk)
  }
  return text
}

function parseWanted(text: string | undefined): { readonly object: string; readonly action: string } | undefined {
  try {
    const { object, action } = JSON.parse(text ?? '') as Readonly<Record<string, unknown>>
    const isWhole = typeof object === 'string' && typeof action === 'string' && objectPattern.test(object)
    return isWhole ? { object, action } : undefined
  } catch {
    return undefined
  }
}
