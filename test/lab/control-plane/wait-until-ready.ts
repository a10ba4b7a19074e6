import { readFile } from 'node:fs/promises'
import { get as getPlain } from 'node:http'
import { get as getSecure } from 'node:https'
import { setTimeout as pause } from 'node:timers/promises'
import type { Daemon } from '../processes/daemon.ts'

export interface Readiness {
  readonly daemon: Daemon
  readonly url: string
  /** In PEM, for https. */
  readonly authority?: string
  readonly token?: string
  readonly withinMs?: number
  readonly signal?: AbortSignal | undefined
}

const pauseMs = 25

/**
 * Waits until the daemon answers its health check with 200.
 *
 * Fails closed: a daemon that has ended, or takes too long, is told with the last lines of its log.
 */
export async function waitUntilReady(readiness: Readiness): Promise<void> {
  const { daemon, url, withinMs = 60_000, signal } = readiness
  const end = performance.now() + withinMs
  for (;;) {
    signal?.throwIfAborted()
    if (!daemon.isRunning()) throw new Error(`${daemon.name} ended before it was ready:\n${await lastLines(daemon)}`)
    if (await isHealthy(readiness)) return
    if (performance.now() > end) {
      throw new Error(`${daemon.name} did not answer ${url} within ${withinMs} ms:\n${await lastLines(daemon)}`)
    }
    await pause(pauseMs)
  }
}

async function lastLines({ logFile }: Daemon, count = 15): Promise<string> {
  const text = await readFile(logFile, 'utf8')
  return text.trimEnd().split('\n').slice(-count).join('\n')
}

function isHealthy({ url, authority, token }: Readiness): Promise<boolean> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const options = { headers, timeout: 5_000, agent: false, ...(authority === undefined ? {} : { ca: authority }) }
  return new Promise((resolve) => {
    const request = (url.startsWith('https:') ? getSecure : getPlain)(url, options, (answer) => {
      answer.resume()
      answer.once('error', () => resolve(false))
      answer.once('end', () => resolve(answer.statusCode === 200))
    })
    request.once('timeout', () => request.destroy())
    request.once('error', () => resolve(false))
  })
}
