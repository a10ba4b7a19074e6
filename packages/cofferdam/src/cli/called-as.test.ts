import { describe, expect, it } from 'vitest'
import { asCalled, calledAs, type HowCalled } from './called-as.ts'

const installed: HowCalled = {
  script: '/usr/bin/cofferdam',
  launcher: '/usr/lib/node_modules/cofferdam/bin/cofferdam.js',
  cwd: '/home/ann',
  environment: {},
}

describe('how this program is called from where the user is', () => {
  const cases: Record<string, { given: Partial<HowCalled>; then: string }> = {
    'installed, by its name': { given: {}, then: 'cofferdam' },
    'as a plugin of kubectl': { given: { script: '/usr/bin/kubectl-cofferdam' }, then: 'kubectl cofferdam' },
    'by npx, which puts nothing into the PATH': {
      given: { environment: { npm_command: 'exec' } },
      then: 'npx cofferdam',
    },
    'from a clone, by the path of its launcher': {
      given: { launcher: '/home/ann/cofferdam/bin/cofferdam.js', cwd: '/home/ann/cofferdam' },
      then: 'node bin/cofferdam.js',
    },
    'from a folder above the clone': {
      given: { launcher: '/home/ann/cofferdam/bin/cofferdam.js' },
      then: 'node cofferdam/bin/cofferdam.js',
    },
    'in an image, from its root: the launcher that a hint named is not there': {
      given: { script: '/usr/lib/cofferdam/cofferdam.js', launcher: '/usr/lib/bin/cofferdam.js', cwd: '/' },
      then: 'cofferdam',
    },
    'installed in a project': {
      given: { launcher: '/home/ann/node_modules/cofferdam/bin/cofferdam.js' },
      then: 'cofferdam',
    },
  }
  it.each(Object.entries(cases))('%s', (_name, { given, then }) => {
    expect(calledAs({ ...installed, ...given })).toBe(then)
  })
})

describe('a hint', () => {
  const commands = ['explain', 'drain']
  const cases: Record<string, { given: [string, string]; then: string }> = {
    'is a command that works': {
      given: ['see cofferdam explain node/a, then cofferdam drain a', 'node bin/cofferdam.js'],
      then: 'see node bin/cofferdam.js explain node/a, then node bin/cofferdam.js drain a',
    },
    'stays as it is where the program is installed': {
      given: ['cofferdam explain node/a', 'cofferdam'],
      then: 'cofferdam explain node/a',
    },
    'is not made of what is no command': {
      given: ['the cofferdam operator, cofferdam.io/lock, kubectl-cofferdam explain', 'npx cofferdam'],
      then: 'the cofferdam operator, cofferdam.io/lock, kubectl-cofferdam explain',
    },
    'that is made already is not made twice': {
      given: ['npx cofferdam explain node/a; kubectl cofferdam drain a', 'npx cofferdam'],
      then: 'npx cofferdam explain node/a; kubectl cofferdam drain a',
    },
  }
  it.each(Object.entries(cases))('%s', (_name, { given: [text, called], then }) => {
    expect(asCalled(text, called, commands)).toBe(then)
  })
})
