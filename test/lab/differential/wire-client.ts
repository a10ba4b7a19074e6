import type { Json } from '@cofferdam/kubernetes/api/json.ts'
import { Agent, type Dispatcher } from 'undici'
import type { Side, WatchTaken, WireAnswer, WireRequest } from './side.ts'

export interface WireClientOptions {
  readonly url: string
  readonly ca?: string
  readonly token?: string
  readonly cert?: string
  readonly key?: string
}

const agentName = 'differential/1'
/**
 * A watch that has been silent for so many turns has told its past: both servers tell it from memory, at once. Turns, not one time of
 * waiting: where this process had to stand still, what came meanwhile is read between two of them.
 */
const quietTurns = 5
const turnMs = 20
/** Long enough for a server that shares its cores with others. */
const longestWatchMs = 10_000

/** Speaks plain HTTP to one server and hands out answers as they are, failures included. */
export function createWireClient({ url, token, ...tls }: WireClientOptions): Pick<Side, 'send' | 'watch' | 'close'> {
  const agent = new Agent({ connections: 16, connect: tls })
  const headers = {
    accept: 'application/json',
    'user-agent': agentName,
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  }
  const ask = (request: WireRequest, signal?: AbortSignal) =>
    agent.request({
      origin: url,
      path: encodeURI(request.path),
      method: request.method as Dispatcher.HttpMethod,
      headers: {
        ...headers,
        ...(request.body === undefined ? {} : { 'content-type': request.contentType ?? 'application/json' }),
      },
      ...(request.body === undefined ? {} : { body: JSON.stringify(request.body) }),
      ...(signal === undefined ? {} : { signal }),
      headersTimeout: 40_000,
      bodyTimeout: 40_000,
    })

  return {
    async send(request) {
      const answer = await ask(request)
      return readAnswer(answer.statusCode, answer.headers, await answer.body.text())
    },
    async watch(path, enough) {
      const end = new AbortController()
      const longest = setTimeout(() => end.abort(), longestWatchMs)
      try {
        const answer = await ask({ method: 'GET', path }, end.signal)
        if (answer.statusCode !== 200) {
          return { code: answer.statusCode, events: [parse(await answer.body.text())] }
        }
        return await takeEvents(answer.body, end, enough)
      } finally {
        clearTimeout(longest)
        end.abort()
      }
    },
    close: () => agent.destroy(),
  }
}

async function takeEvents(
  body: AsyncIterable<Uint8Array>,
  end: AbortController,
  enough: (events: readonly Json[]) => boolean,
): Promise<WatchTaken> {
  const events: Json[] = []
  let rest = ''
  let quiet: NodeJS.Timeout | undefined
  const rearm = (turns = quietTurns) => {
    clearTimeout(quiet)
    if (turns === 0) end.abort()
    else if (enough(events)) quiet = setTimeout(() => rearm(turns - 1), turnMs)
  }
  rearm()
  try {
    for await (const chunk of body) {
      const lines = (rest + Buffer.from(chunk).toString('utf8')).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) if (line !== '') events.push(JSON.parse(line) as Json)
      rearm()
    }
  } catch (error) {
    if (!end.signal.aborted) throw error
  } finally {
    clearTimeout(quiet)
  }
  return { code: 200, events }
}

function readAnswer(code: number, headers: Record<string, string | string[] | undefined>, text: string): WireAnswer {
  const retryAfter = headers['retry-after']
  const warning = headers['warning']
  const warnings = warning === undefined ? [] : [warning].flat()
  return {
    code,
    ...(retryAfter === undefined ? {} : { retryAfter: String(retryAfter) }),
    ...(warnings.length === 0 ? {} : { warnings }),
    body: parse(text),
  }
}

function parse(text: string): Json {
  try {
    return JSON.parse(text) as Json
  } catch {
    return text
  }
}
