import type { Answer } from './answer.ts'
import type { Exchange } from './exchange.ts'
import { isTrue } from './request-options.ts'

const names = ['healthz', 'livez', 'readyz']

export function isHealthPath(segments: readonly string[]): boolean {
  return names.includes(segments[0] as string) && segments.length <= 2
}

/** `ok`, or with `?verbose` each check by name. Being alive and being ready are told apart. */
export function answerHealth({ segments, query }: Exchange, isReady: boolean): Answer {
  const [probe = '', only] = segments
  const checks = [
    { name: 'ping', passes: true },
    ...(probe === 'readyz' ? [{ name: 'cluster', passes: isReady }] : []),
  ].filter(({ name }) => only === undefined || only === name)
  if (checks.length === 0) return { code: 404, body: `no check is called ${only}\n`, contentType: 'text/plain' }
  const passes = checks.every((check) => check.passes)
  const lines = checks.map((check) => (check.passes ? `[+]${check.name} ok` : `[-]${check.name} failed`))
  const verdict = `${probe} check ${passes ? 'passed' : 'failed'}`
  const isBrief = passes && !isTrue(query.get('verbose'))
  return {
    code: passes ? 200 : 500,
    body: isBrief ? 'ok' : `${[...lines, verdict].join('\n')}\n`,
    contentType: 'text/plain; charset=utf-8',
    headers: { 'X-Content-Type-Options': 'nosniff' },
  }
}
