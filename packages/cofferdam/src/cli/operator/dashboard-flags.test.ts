import { describe, expect, it } from 'vitest'
import { type DashboardFlags, dashboardPlace } from './dashboard-flags.ts'

const plain = { dashboard: true, dashboardHost: '127.0.0.1', dashboardPort: 7401 }
const place = { host: '127.0.0.1', port: 7401, tlsFolder: undefined, takesApiTokens: false }

const cases: Record<string, { flags: DashboardFlags; then: object | undefined }> = {
  'without --dashboard there is no page, whatever else is said of it': {
    flags: { ...plain, dashboard: false, dashboardHost: '0.0.0.0' },
    then: undefined,
  },
  'on this machine plain HTTP will do: kubectl port-forward encrypts the way there': { flags: plain, then: place },
  'beyond this machine it is served with the certificate that is named': {
    flags: { ...plain, dashboardHost: '0.0.0.0', dashboardTls: '/tls' },
    then: { ...place, host: '0.0.0.0', tlsFolder: '/tls' },
  },
  'beyond this machine plain HTTP is served only where it is asked for by name': {
    flags: { ...plain, dashboardHost: '10.0.0.7', dashboardPlainHttp: true },
    then: { ...place, host: '10.0.0.7' },
  },
  'tokens for the API server are taken only where it is asked for': {
    flags: { ...plain, dashboardApiTokens: true },
    then: { ...place, takesApiTokens: true },
  },
}

describe('the flags of the page', () => {
  for (const [sentence, { flags, then }] of Object.entries(cases)) {
    it(sentence, () => expect(dashboardPlace(flags)).toEqual(then))
  }

  it.each(['0.0.0.0', '::', '10.0.0.7', 'node-1', '127.evil.example'])(
    'plain HTTP on %s is refused, as tokens could be read on the network',
    (dashboardHost) => {
      expect(() => dashboardPlace({ ...plain, dashboardHost })).toThrow(/plain HTTP/)
    },
  )
})
