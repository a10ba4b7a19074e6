import { Command } from 'commander'
import { describe, expect, it } from 'vitest'
import { configureDrainLock, type DrainLockFlags, drainLockOptions } from './drain-lock-flags.ts'

function parse(...argv: string[]): DrainLockFlags | string {
  const written: string[] = []
  const command = new Command('operator').exitOverride().configureOutput({ writeErr: (text) => written.push(text) })
  configureDrainLock(command)
  try {
    command.parse(argv, { from: 'user' })
    return command.opts<DrainLockFlags>()
  } catch {
    return written.join('').trim()
  }
}

describe('flags of the drain lock', () => {
  it('left out mean what the documents say', () => {
    expect(drainLockOptions(parse() as DrainLockFlags, { isInPod: false })).toEqual({
      drainLock: {
        mode: 'reserve',
        minTolerationMs: 900_000,
        fallbackAfterMs: 1_800_000,
        plannedOutageMs: 3_600_000,
      },
      appLocks: { maxTtlMs: 14_400_000, maxHoldMs: 43_200_000, maxPerNamespace: 5 },
    })
  })

  it('plain deletions are guarded only when asked for: kubectl delete goes on working where nobody wants otherwise', () => {
    const guarded = (...argv: string[]) =>
      drainLockOptions(parse(...argv) as DrainLockFlags, { isInPod: true }).guard?.guardsDeletions
    expect([guarded(), guarded('--guard-deletions')]).toEqual([false, true])
  })

  const bad: Record<string, [string[], string]> = {
    'a mode that there is not': [
      ['--drain-lock-mode', 'hope'],
      "error: option '--drain-lock-mode <mode>' argument 'hope' is invalid. Allowed choices are reserve, spec, settle.",
    ],
    'a time without a unit': [
      ['--min-toleration', '900'],
      "error: option '--min-toleration <duration>' argument '900' is invalid. it is a duration such as 2h, 90m or 1h30m.",
    ],
    'less than no locks': [
      ['--locks-per-namespace', '-1'],
      "error: option '--locks-per-namespace <number>' argument '-1' is invalid. the number of locks is a whole number from 0 to 10000.",
    ],
    'a port beyond all ports': [
      ['--guard-port', '70000'],
      "error: option '--guard-port <number>' argument '70000' is invalid. a port is a whole number from 0 to 65535.",
    ],
    'a guard without encryption': [
      ['--guard-url', 'http://10.0.0.7'],
      "error: option '--guard-url <url>' argument 'http://10.0.0.7' is invalid. it is https://HOST or https://HOST:PORT, without a path.",
    ],
    'a guard under a path': [
      ['--guard-url', 'https://10.0.0.7/guard'],
      "error: option '--guard-url <url>' argument 'https://10.0.0.7/guard' is invalid. it is https://HOST or https://HOST:PORT, without a path.",
    ],
  }

  it.each(Object.entries(bad))('refuse %s, by name and with what is allowed', (_, [argv, says]) => {
    expect(parse(...argv)).toBe(says)
  })

  it('take a client certificate for the API server’s word only with a file that has authorities', () => {
    const clients = (...argv: string[]) => {
      const flags = parse(...argv)
      if (typeof flags === 'string') return flags
      return drainLockOptions(flags, { isInPod: true }).guard?.clients
    }
    expect(clients()).toBeUndefined()
    expect(clients('--guard-client-ca', '/nowhere/ca.pem')).toContain('it cannot be used: ENOENT')
    expect(clients('--guard-client-ca', import.meta.filename)).toContain('it cannot be used: it holds no certificate.')
    expect(() => clients('--guard-client-name', 'kube-apiserver')).toThrow(
      '--guard-client-name needs --guard-client-ca',
    )
  })

  interface GuardCase {
    readonly argv: readonly string[]
    readonly isInPod: boolean
    /** Undefined: no guard. */
    readonly reached: unknown
    readonly hosts?: readonly string[]
  }
  const service = { service: { namespace: 'cofferdam-system', name: 'cofferdam-guard', port: 443 } }
  const hosts = ['cofferdam-guard.cofferdam-system.svc']
  const guards: Record<string, GuardCase> = {
    'in a pod it is behind its Service': { argv: [], isInPod: true, reached: service, hosts },
    'elsewhere there is none, because nobody could reach it': { argv: [], isInPod: false, reached: undefined },
    'in a pod it can be switched off': { argv: ['--no-guard'], isInPod: true, reached: undefined },
    'elsewhere it can be switched on': { argv: ['--guard'], isInPod: false, reached: service, hosts },
    'a URL switches it on, and its certificate is for the host in there': {
      argv: ['--guard-url', 'https://[fd00::7]:7444'],
      isInPod: false,
      reached: { url: 'https://[fd00::7]:7444' },
      hosts: ['fd00::7'],
    },
  }

  it.each(Object.entries(guards))('decide on the guard: %s', (_, { argv, isInPod, reached, hosts: names }) => {
    const { guard } = drainLockOptions(parse(...argv) as DrainLockFlags, { isInPod })
    expect([guard?.addressOf(1), guard?.hosts]).toEqual([reached, names])
  })
})
