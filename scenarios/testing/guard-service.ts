import { X509Certificate } from 'node:crypto'
import { guardPaths } from '@cofferdam/product/eviction-guard/domain/webhook-configuration.ts'
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
}

interface Listener {
  readonly options: GuardServerOptions
  readonly isDead: () => boolean
  certificate: X509Certificate
}

const url = 'https://guard.invalid'

export function createGuardService(): GuardService {
  const listeners = new Set<Listener>()
  let isCut = false
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
      requireTrust(listener.certificate, ca, serverName)
      const isStrict = new URL(asked).pathname === guardPaths.locked
      const answer = await listener.options.answer(body, { isStrict })
      return { status: answer.code, body: answer.body }
    },
    cut() {
      isCut = true
    },
    mend() {
      isCut = false
    },
  }
}

/** Those that are not ready are taken out of a Service. */
function isReady({ whatIsMissing }: GuardServerOptions): boolean {
  return whatIsMissing() === undefined
}

function requireTrust(certificate: X509Certificate, ca: string, serverName: string): void {
  const authorities = ca.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  const isTrusted = authorities.some((pem) => certificate.verify(new X509Certificate(pem).publicKey))
  if (!isTrusted) throw new Error('tls: failed to verify certificate: x509: certificate signed by unknown authority')
  if (certificate.checkHost(serverName) === undefined)
    throw new Error(`x509: certificate is not valid for ${serverName}`)
}
