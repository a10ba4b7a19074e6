import { X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import type { Observed } from '../shared/observed.ts'
import { buildGuardSecretData, type HeldCertificates, parseGuardSecret } from './guard-secret-data.ts'
import { type CertifiedKey, createCertificateAuthority, issueServerCertificate } from './self-signed-certificate.ts'

export interface CertificateSettings {
  readonly authorityMs: number
  /** How long before an authority ends the next one is announced. */
  readonly authorityRenewBeforeMs: number
  readonly servingMs: number
  readonly servingRenewBeforeMs: number
  /** How long the API server is given to trust a new authority, from when its configuration carries it. */
  readonly settleMs: number
  /** How long an old authority stays trusted after the certificate was changed. */
  readonly retireAfterMs: number
}

const dayMs = 86_400_000

export const defaultCertificateSettings: CertificateSettings = {
  authorityMs: 730 * dayMs,
  authorityRenewBeforeMs: 180 * dayMs,
  servingMs: 90 * dayMs,
  servingRenewBeforeMs: 30 * dayMs,
  settleMs: 300_000,
  retireAfterMs: dayMs,
}

/** Certificates count from an hour before they were made, so that a clock that is behind takes them. */
const backdatedMs = 3_600_000
const recheckMs = 30_000

/**
 * `begin`: all anew. `renew`: a new certificate by the same authority. `announce`: a new authority, to be trusted beside
 * the present one. `switch`: the announced one signs from now on. `retire`: only the one that signs stays trusted.
 */
export type CertificateStep = 'none' | 'begin' | 'renew' | 'announce' | 'switch' | 'retire'

export interface CertificateSnapshot {
  readonly nowMs: number
  readonly held: Observed<HeldCertificates | undefined>
  /** The names and addresses under which the guard is called. */
  readonly hosts: readonly string[]
  /** Since when the webhooks were seen to carry exactly the authorities that are held; undefined: they do not. */
  readonly carriedSinceMs: number | undefined
  readonly settings: CertificateSettings
}

export interface CertificateDecision {
  readonly step: CertificateStep
  readonly explanation: string
}

/**
 * The next step in the life of the guard's certificates.
 *
 * Guarantees: a certificate is never served before the API server trusts its authority and was given time
 * to hear it, unless there is nothing to go on from; an authority leaves only long after its last certificate was served.
 */
export function decideCertificates(seen: CertificateSnapshot): CertificateDecision {
  const { nowMs, held, hosts, carriedSinceMs, settings } = seen
  if (!held.known)
    return {
      step: 'begin',
      explanation: `The guard's Secret cannot be used: ${held.why}. Authority and certificate are created again.`,
    }
  if (held.value === undefined) return { step: 'begin', explanation: "The guard's first authority and certificate." }
  const { signer, serving, next, former } = held.value
  const authority = spanOf(signer)
  const served = spanOf(serving)
  if (authority.endMs <= nowMs || authority.startMs > nowMs) {
    return {
      step: 'begin',
      explanation: "The guard's authority is not valid now. Authority and certificate are created again.",
    }
  }
  const missing = hosts.filter((host) => !isFor(serving, host))
  if (missing.length > 0) return { step: 'renew', explanation: `The certificate is not for ${missing.join(', ')}.` }
  // An authority that ends sooner than its certificate should is the shorter of the two, and renewing would gain nothing.
  if (served.endMs - nowMs < settings.servingRenewBeforeMs && authority.endMs - served.endMs > settings.settleMs) {
    return { step: 'renew', explanation: 'The certificate ends soon.' }
  }
  if (next !== undefined) {
    if (carriedSinceMs === undefined) return waiting('The webhooks do not carry the next authority yet.')
    if (nowMs - carriedSinceMs < settings.settleMs)
      return waiting('The API server is given time to trust the next one.')
    return { step: 'switch', explanation: 'The next authority is trusted everywhere, and signs from now on.' }
  }
  if (authority.endMs - nowMs < settings.authorityRenewBeforeMs) {
    return { step: 'announce', explanation: 'The authority ends soon; the next one is announced.' }
  }
  if (former.length > 0 && nowMs - (served.startMs + backdatedMs) >= settings.retireAfterMs) {
    return { step: 'retire', explanation: 'No certificate of the former authority is served any more.' }
  }
  return waiting('Nothing is due.')
}

export interface CertificatePlan extends CertificateDecision {
  /** What the Secret is to hold, field by field in base64; undefined when it stays as it is. */
  readonly data: Readonly<Record<string, string>> | undefined
  readonly recheckAfterMs: number
}

/** Decides on what the Secret holds, and makes the keys and certificates that the decision asks for. */
export function planCertificates(
  seen: Omit<CertificateSnapshot, 'held'> & { readonly data: Readonly<Record<string, string>> | undefined },
): CertificatePlan {
  const held = parseGuardSecret(seen.data)
  const decision = decideCertificates({ ...seen, held })
  const made = make(decision.step, held.known ? held.value : undefined, seen)
  return {
    ...decision,
    data: made === undefined ? undefined : buildGuardSecretData(made),
    recheckAfterMs: Math.min(recheckMs, seen.settings.settleMs),
  }
}

type Making = Pick<CertificateSnapshot, 'nowMs' | 'hosts' | 'settings'>

function make(step: CertificateStep, held: HeldCertificates | undefined, making: Making): HeldCertificates | undefined {
  if (step === 'none') return undefined
  if (step === 'begin' || held === undefined) {
    const signer = newAuthority(making)
    return { signer, serving: newCertificate(signer, making), next: undefined, former: [] }
  }
  if (step === 'renew') return { ...held, serving: newCertificate(held.signer, making) }
  if (step === 'announce') return { ...held, next: newAuthority(making) }
  if (step === 'retire') return { ...held, former: [] }
  const signer = held.next ?? newAuthority(making)
  return {
    signer,
    serving: newCertificate(signer, making),
    next: undefined,
    former: [held.signer.certificatePem, ...held.former],
  }
}

function newAuthority({ nowMs, settings }: Making): CertifiedKey {
  return createCertificateAuthority({
    // Two authorities side by side are told apart by name, by people and by programs.
    commonName: `cofferdam-guard-ca@${Math.floor(nowMs / 1000)}`,
    notBeforeMs: nowMs - backdatedMs,
    notAfterMs: nowMs + settings.authorityMs,
  })
}

function newCertificate(authority: CertifiedKey, { nowMs, hosts, settings }: Making): CertifiedKey {
  return issueServerCertificate({
    authority,
    commonName: 'cofferdam-guard',
    hosts,
    notBeforeMs: nowMs - backdatedMs,
    notAfterMs: Math.min(nowMs + settings.servingMs, spanOf(authority).endMs),
  })
}

function waiting(explanation: string): CertificateDecision {
  return { step: 'none', explanation }
}

/** The same few are judged every half minute, and reading one is dear. */
const mostRemembered = 8
const remembered = new Map<string, X509Certificate>()

function readCertificate({ certificatePem }: CertifiedKey): X509Certificate {
  const known = remembered.get(certificatePem)
  if (known !== undefined) return known
  const certificate = new X509Certificate(certificatePem)
  if (remembered.size >= mostRemembered) remembered.clear()
  remembered.set(certificatePem, certificate)
  return certificate
}

function spanOf(key: CertifiedKey): { readonly startMs: number; readonly endMs: number } {
  const { validFrom, validTo } = readCertificate(key)
  return { startMs: Date.parse(validFrom), endMs: Date.parse(validTo) }
}

function isFor(key: CertifiedKey, host: string): boolean {
  const certificate = readCertificate(key)
  return (isIP(host) === 0 ? certificate.checkHost(host) : certificate.checkIP(host)) !== undefined
}
