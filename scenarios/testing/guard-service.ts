import { X509Certificate } from 'node:crypto'
import { parseGuardPath } from '@cofferdam/product/eviction-guard/domain/webhook-configuration.ts'
import type { GuardServer, GuardServerOptions } from '@cofferdam/product/eviction-guard/guard-server.ts'
import type { WebhookCall } from '@cofferdam/simulator/api-server/admission/webhook-call.ts'

/** The Service in front of the guards of all operators, without a network: in virtual time nothing may wait for one. */
export interface GuardService {
  /** How the guard of one process listens; it does not answer any more once its process is dead. */
  listenFor(isDead: () => boolean): (options: GuardServerOptions) => Promise<GuardServer>
  readonly call: WebhookCall
  readonly url: string
  /** Nobody is reached until it is mended. */
  cut(): void
  mend(): void
  /** Whoever is reached waits for this before each answer; undefined: answers come at once. */
  delay(wait: (() => Promise<void>) | undefined): void
}

interface Listener {
  readonly options: GuardServerOptions
  readonly isDead: () => boolean
  certificate: X509Certificate
}

const url = 'https://guard.invalid'

/** `now`: by whose clock certificates expire; without it they never do. */
export function createGuardService(now?: () => number): GuardService {
  const listeners = new Set<Listener>()
  const distrustIn = createTrust()
  let isCut = false
  let wait: (() => Promise<void>) | undefined
  let ports = 0

  return {
    url,
    listenFor: (isDead) => async (options) => {
      const listener: Listener = {
        options,
        isDead,
        certificate: new X509Certificate(options.certificate.certificatePem),
      }
      listeners.add(listener)
      ports += 1
      return {
        port: ports,
        setCertificate: ({ certificatePem }) => {
          listener.certificate = new X509Certificate(certificatePem)
        },
        close: async () => void listeners.delete(listener),
      }
    },
    async call({ url: asked, ca = '', serverName = '', body }) {
      const listener = isCut ? undefined : [...listeners].find(({ isDead, options }) => !isDead() && isReady(options))
      if (listener === undefined) throw new Error('dial tcp: connect: connection refused')
      await wait?.()
      if (now !== undefined && !isValidAt(listener.certificate, now()))
        throw new Error('tls: failed to verify certificate: x509: certificate has expired or is not yet valid')
      const distrust = distrustIn(listener.certificate, ca, serverName)
      if (distrust !== undefined) throw new Error(distrust)
      const { isStrict, proof } = parseGuardPath(new URL(asked).pathname) ?? { isStrict: true, proof: '' }
      const { answer: answerWith, recognises } = listener.options
      const answer = await answerWith(body, { isStrict, isFromServer: recognises(proof) })
      return { status: answer.code, body: answer.body }
    },
    cut() {
      isCut = true
    },
    mend() {
      isCut = false
    },
    delay(given) {
      wait = given
    },
  }
}

/** Those that are not ready are taken out of a Service. */
function isReady({ whatIsMissing }: GuardServerOptions): boolean {
  return whatIsMissing() === undefined
}

const spans = new WeakMap<X509Certificate, readonly [number, number]>()

function isValidAt(certificate: X509Certificate, nowMs: number): boolean {
  const span = spans.get(certificate) ?? ([Date.parse(certificate.validFrom), Date.parse(certificate.validTo)] as const)
  spans.set(certificate, span)
  return span[0] <= nowMs && nowMs <= span[1]
}

/**
 * What a client holds against a certificate; undefined: it trusts it. The same three are held together before each call, and reading
 * certificates is dear, so what was found is kept for as long as the certificate is.
 */
function createTrust(): (certificate: X509Certificate, ca: string, serverName: string) => string | undefined {
  const found = new WeakMap<X509Certificate, Map<string, string | undefined>>()
  return (certificate, ca, serverName) => {
    const known = found.get(certificate) ?? new Map<string, string | undefined>()
    found.set(certificate, known)
    const key = `${serverName}\n${ca}`
    if (!known.has(key)) known.set(key, distrustOf(certificate, ca, serverName))
    return known.get(key)
  }
}

function distrustOf(certificate: X509Certificate, ca: string, serverName: string): string | undefined {
  const authorities = ca.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  const isTrusted = authorities.some((pem) => certificate.verify(new X509Certificate(pem).publicKey))
  if (!isTrusted) return 'tls: failed to verify certificate: x509: certificate signed by unknown authority'
  return certificate.checkHost(serverName) === undefined
    ? `x509: certificate is not valid for ${serverName}`
    : undefined
}
