import type { Agent } from 'undici'

/** One POST to a webhook. */
export interface WebhookCallRequest {
  readonly url: string
  /** PEM of the authorities to trust; the system's own when absent. */
  readonly ca: string | undefined
  /** The name the certificate must be for, where that is not the URL's host. */
  readonly serverName: string | undefined
  readonly body: string
  /** Fires when the time for an answer is over. */
  readonly signal: AbortSignal
}

export interface WebhookCallAnswer {
  readonly status: number
  readonly body: string
}

export type WebhookCall = (call: WebhookCallRequest) => Promise<WebhookCallAnswer>

const mostBytes = 3 * 1024 * 1024

/** Calls over HTTPS. Connections are kept open per host and authority, as requests come in bursts. */
export class HttpsWebhookClient {
  readonly #agents = new Map<string, Agent>()

  readonly call: WebhookCall = async ({ url, ca, serverName, body, signal }) => {
    // A fifth of what loading this program takes, and most clusters that run here never call a webhook.
    const { Agent, request } = await import('undici')
    const answer = await request(url, {
      method: 'POST',
      dispatcher: this.#agentFor(Agent, { origin: new URL(url).origin, ca, serverName }),
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body,
      signal,
    })
    return { status: answer.statusCode, body: await readText(answer.body) }
  }

  async close(): Promise<void> {
    const agents = [...this.#agents.values()]
    this.#agents.clear()
    await Promise.all(agents.map((agent) => agent.destroy()))
  }

  #agentFor(
    Maker: typeof Agent,
    { origin, ca, serverName }: Pick<WebhookCallRequest, 'ca' | 'serverName'> & { readonly origin: string },
  ): Agent {
    const key = JSON.stringify([origin, serverName, ca])
    let agent = this.#agents.get(key)
    if (agent === undefined) {
      agent = new Maker({
        // The deadline is the caller's, by the caller's clock.
        headersTimeout: 0,
        bodyTimeout: 0,
        connect: {
          ...(ca === undefined ? {} : { ca }),
          ...(serverName === undefined ? {} : { servername: serverName }),
        },
      })
      this.#agents.set(key, agent)
    }
    return agent
  }
}

async function readText(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.length
    if (size > mostBytes) throw new Error(`the answer is longer than ${mostBytes} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
