import { X509Certificate } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { guardSecretFields as fields } from './domain/guard-secret.ts'
import { type CertificatePlan, defaultCertificateSettings, planCertificates } from './guard-certificates.ts'
import { parseGuardSecret, servedSecretOf } from './guard-secret-data.ts'

const settings = defaultCertificateSettings
const day = 86_400_000
const start = Date.UTC(2026, 0, 1)
const hosts = ['cofferdam-guard.cofferdam-system.svc', '127.0.0.1']

type Data = Readonly<Record<string, string>>

function plan(data: Data | undefined, nowMs: number, facts: { carriedSinceMs?: number; hosts?: string[] } = {}) {
  return planCertificates({ data, nowMs, hosts, carriedSinceMs: undefined, settings, ...facts })
}

const held = ({ data }: CertificatePlan): Data => data ?? {}
const authoritiesIn = (data: Data) =>
  Buffer.from(data[fields.authorities] ?? '', 'base64')
    .toString()
    .match(/-----BEGIN[\s\S]*?END CERTIFICATE-----/g) ?? []
const isTrusted = (data: Data, by: Data) => {
  const certificate = new X509Certificate(servedSecretOf(data)?.serving.certificatePem ?? '')
  return authoritiesIn(by).some((each) => certificate.verify(new X509Certificate(each).publicKey))
}

const first = held(plan(undefined, start))

describe('the certificates of the guard', () => {
  it('begin with an authority and a certificate for every name of the guard', () => {
    const certificate = new X509Certificate(servedSecretOf(first)?.serving.certificatePem ?? '')
    expect([certificate.checkHost(hosts[0] as string), certificate.checkIP('127.0.0.1')]).toEqual(hosts)
    expect(isTrusted(first, first)).toBe(true)
    expect(plan(first, start)).toMatchObject({ step: 'none', data: undefined })
  })

  it('are renewed by the same authority a month before they end', () => {
    expect(plan(first, start + 59 * day).step).toBe('none')
    const renewed = plan(first, start + 61 * day)
    expect([renewed.step, authoritiesIn(held(renewed))]).toEqual(['renew', authoritiesIn(first)])
    expect(isTrusted(held(renewed), first)).toBe(true)
  })

  it('are renewed when the guard is called by another name', () => {
    const renewed = plan(first, start, { hosts: ['10.0.0.7'] })
    expect([renewed.step, renewed.explanation]).toEqual(['renew', 'The certificate is not for 10.0.0.7.'])
    expect(plan(held(renewed), start, { hosts: ['10.0.0.7'] }).step).toBe('none')
  })

  it('change their authority with overlap: announced first, served once trusted, the old one leaves a day later', () => {
    const due = start + 551 * day
    const fresh = held(plan(first, due - day))
    const announced = plan(fresh, due)
    expect([announced.step, authoritiesIn(held(announced)).length]).toEqual(['announce', 2])
    expect(servedSecretOf(held(announced))?.serving).toEqual(servedSecretOf(fresh)?.serving)

    expect(plan(held(announced), due + day).explanation).toBe('The webhooks do not carry the next authority yet.')
    expect(plan(held(announced), due + 299_999, { carriedSinceMs: due }).step).toBe('none')
    const switched = plan(held(announced), due + 300_000, { carriedSinceMs: due })
    expect(switched.step).toBe('switch')
    // Whoever still serves the former certificate is trusted, and so is whoever serves the new one already.
    for (const serving of [fresh, held(switched)]) {
      for (const trusting of [held(announced), held(switched)]) expect(isTrusted(serving, trusting)).toBe(true)
    }

    expect(plan(held(switched), due + day).step).toBe('none')
    const retired = plan(held(switched), due + day + 300_000)
    expect([retired.step, authoritiesIn(held(retired)).length]).toEqual(['retire', 1])
    expect([isTrusted(held(switched), held(retired)), isTrusted(fresh, held(retired))]).toEqual([true, false])
    expect(plan(held(retired), due + day + 300_000).step).toBe('none')
  })

  it('are made anew when nobody renewed them in time', () => {
    expect(plan(first, start + 731 * day)).toMatchObject({
      step: 'begin',
      explanation: "The guard's authority is not valid now. Authority and certificate are created again.",
    })
  })

  const other = held(plan(undefined, start))
  const broken: Record<string, { given: Data; why: string }> = {
    'an empty Secret': { given: {}, why: 'ca.crt is missing' },
    'a bundle without a certificate': {
      given: { ...first, [fields.authorities]: 'bm90aGluZw==' },
      why: 'ca.crt holds no certificate',
    },
    'a lost key': {
      given: Object.fromEntries(Object.entries(first).filter(([field]) => field !== fields.key)),
      why: 'tls.key is missing',
    },
    'the key of another certificate': {
      given: { ...first, [fields.key]: other[fields.key] as string },
      why: 'the key of "CN=cofferdam-guard" belongs to another certificate',
    },
    'a certificate of another authority': {
      given: {
        ...first,
        [fields.certificate]: other[fields.certificate] as string,
        [fields.key]: other[fields.key] as string,
      },
      why: 'tls.crt was not signed by the first authority of ca.crt',
    },
  }
  it.each(Object.entries(broken))('are made anew from %s, and it is said why', (_name, { given, why }) => {
    expect(parseGuardSecret(given)).toEqual({ known: false, why })
    const anew = plan(given, start)
    expect([anew.step, anew.explanation]).toEqual([
      'begin',
      `The guard's Secret cannot be used: ${why}. Authority and certificate are created again.`,
    ])
    expect(plan(held(anew), start).step).toBe('none')
  })
})
