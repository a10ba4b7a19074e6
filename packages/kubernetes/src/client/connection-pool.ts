import { X509Certificate } from 'node:crypto'
import { createSecureContext } from 'node:tls'
import { Agent, type Dispatcher, ProxyAgent } from 'undici'
import { CofferdamError } from '../errors.ts'
import type { Clock } from '../runtime/clock.ts'
import type { ClusterConnection, Material } from './cluster-connection.ts'
import { reloadingText } from './connection-files.ts'
import type { CredentialSet } from './credentials.ts'

export interface ConnectionPool {
  /** The pool for the current certificates. */
  current(credentials: CredentialSet): Promise<Dispatcher>
  /** A connection failed: read the certificate files before the next one. */
  recheck(): void
  close(): Promise<void>
}

interface TlsTexts {
  readonly ca: string | undefined
  readonly cert: string | undefined
  readonly key: string | undefined
}

/**
 * Keeps one pool of kept-alive connections, and starts another when a certificate changes.
 *
 * Guarantees: a replaced pool takes no new request but lets those under way finish, watches included. Certificates that
 * cannot be used never replace ones that could: a rotation may have written one of two files so far.
 */
export function createConnectionPool(connection: ClusterConnection, clock: Clock): ConnectionPool {
  const files = {
    ca: reloading(connection.certificateAuthority, clock),
    cert: reloading(connection.clientCertificate?.certificate, clock),
    key: reloading(connection.clientCertificate?.key, clock),
  }
  let present: { readonly texts: TlsTexts; readonly dispatcher: Dispatcher } | undefined
  let unusable: TlsTexts | undefined
  const retiring = new Set<Dispatcher>()

  function replace(texts: TlsTexts): Dispatcher {
    if (present !== undefined && unusable !== undefined && isSame(texts, unusable)) return present.dispatcher
    const problem = problemOf(texts, connection)
    if (problem !== undefined) {
      if (present === undefined) throw problem
      unusable = texts
      return present.dispatcher
    }
    if (present !== undefined) retire(present.dispatcher)
    present = { texts, dispatcher: createDispatcher(connection, texts) }
    return present.dispatcher
  }

  function retire(dispatcher: Dispatcher): void {
    retiring.add(dispatcher)
    const forget = () => retiring.delete(dispatcher)
    dispatcher.close().then(forget, forget)
  }

  return {
    async current(credentials) {
      const texts = {
        ca: await files.ca?.current(),
        cert: credentials.certificate ?? (await files.cert?.current()),
        key: credentials.key ?? (await files.key?.current()),
      }
      return present !== undefined && isSame(texts, present.texts) ? present.dispatcher : replace(texts)
    },
    recheck() {
      for (const file of Object.values(files)) file?.recheck()
    },
    async close() {
      const all = [...retiring, ...(present === undefined ? [] : [present.dispatcher])]
      await Promise.all(all.map((dispatcher) => dispatcher.destroy()))
    },
  }
}

function reloading(material: Material | undefined, clock: Clock) {
  return material === undefined ? undefined : reloadingText(material, clock)
}

function isSame(left: TlsTexts, right: TlsTexts): boolean {
  return left.ca === right.ca && left.cert === right.cert && left.key === right.key
}

function createDispatcher(connection: ClusterConnection, { ca, cert, key }: TlsTexts): Dispatcher {
  const tls = {
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined || key === undefined ? {} : { cert, key }),
    ...(connection.tlsServerName === undefined ? {} : { servername: connection.tlsServerName }),
    rejectUnauthorized: !connection.insecureSkipTlsVerify,
  }
  const limits = {
    // Requests have their own time limits, measured by the clock they are given; watches may be quiet for minutes.
    headersTimeout: 0,
    bodyTimeout: 0,
    // Well below the 90 s after which an API server drops an idle connection, so that we rarely write into a closing one.
    keepAliveTimeout: 30_000,
    connections: 256,
  }
  const connect = { ...tls, timeout: 10_000, keepAliveInitialDelay: 15_000 }
  if (connection.proxyUrl === undefined) return new Agent({ ...limits, connect })
  return new ProxyAgent({ ...limits, uri: connection.proxyUrl, requestTls: connect })
}

/** OpenSSL's own words are for its authors: say which entry to look at instead. */
function problemOf({ ca, cert, key }: TlsTexts, connection: ClusterConnection): CofferdamError | undefined {
  if (ca !== undefined && !hasCertificate(ca)) {
    return unusableCertificate(originOf(connection.certificateAuthority), 'holds no certificate that can be read')
  }
  if (cert === undefined || key === undefined) return undefined
  const origin = originOf(connection.clientCertificate?.certificate)
  if (!isUsable({ cert })) return unusableCertificate(origin, 'is not a certificate in PEM')
  if (!isUsable({ cert, key })) {
    return unusableCertificate(origin, 'and the client key beside it cannot be read or do not belong together')
  }
  return undefined

  function originOf(material: Material | undefined): string {
    return material?.origin ?? `${connection.source}: the certificate of the credential plugin`
  }
}

/** TLS takes a bundle of garbage for an empty one, and then trusts nobody without saying why. */
function hasCertificate(bundle: string): boolean {
  const blocks = bundle.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  return blocks.some((block) => {
    try {
      return new X509Certificate(block).subject !== undefined
    } catch {
      return false
    }
  })
}

function isUsable(options: { cert: string; key?: string }): boolean {
  try {
    createSecureContext(options)
    return true
  } catch {
    return false
  }
}

function unusableCertificate(origin: string, problem: string): CofferdamError {
  return new CofferdamError('KUBECONFIG_INVALID', `${origin} ${problem}`, {
    hint: 'copy the certificates from the cluster again, or log in again',
  })
}
