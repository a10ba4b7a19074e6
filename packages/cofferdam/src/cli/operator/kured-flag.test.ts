import { Command } from 'commander'
import { describe, expect, it } from 'vitest'
import { configureKured, type KuredFlag, kuredOptions } from './kured-flag.ts'

function parse(...argv: string[]): KuredFlag | string {
  const written: string[] = []
  const command = new Command('operator').exitOverride().configureOutput({ writeErr: (text) => written.push(text) })
  configureKured(command)
  try {
    command.parse(argv, { from: 'user' })
    return command.opts<KuredFlag>()
  } catch {
    return written.join('').trim()
  }
}

describe('the flag that says where kured is', () => {
  it('left out means the DaemonSet of its own manifest', () => {
    const options = kuredOptions(parse() as KuredFlag, ['fencing', 'kured'])
    expect(options).toEqual({ kured: { namespace: 'kube-system', name: 'kured' }, controllers: ['fencing', 'kured'] })
  })

  it('names another DaemonSet, or takes the controller out so that nothing of kured is even read', () => {
    const named = kuredOptions(parse('--kured', 'reboots/my-kured') as KuredFlag, ['kured'])
    expect(named.kured).toEqual({ namespace: 'reboots', name: 'my-kured' })
    const off = kuredOptions(parse('--kured', 'off') as KuredFlag, ['fencing', 'kured'])
    expect(off).toEqual({ controllers: ['fencing'] })
  })

  it.each(['kured', 'a/b/c', 'a/', 'A/b'])('refuses %s, which is no name of a DaemonSet', (text) => {
    expect(parse('--kured', text)).toContain('it is NAMESPACE/NAME, or off.')
  })
})
