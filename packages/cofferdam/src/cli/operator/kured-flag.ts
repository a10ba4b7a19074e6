import { type Command, InvalidArgumentError, Option } from 'commander'
import { defaultKured, type KuredName } from '../../capabilities/kured/domain/kured-name.ts'
import type { ControllerName } from '../../operator/controller-names.ts'
import type { OperatorOptions } from '../../operator/options.ts'

export interface KuredFlag {
  readonly kured: KuredName | 'off'
}

export function configureKured(command: Command): void {
  const { namespace, name } = defaultKured
  command.addOption(
    new Option('--kured <name>', 'the DaemonSet of kured, NAMESPACE/NAME; off: leave kured alone')
      .argParser(parseKured)
      .default(defaultKured, `${namespace}/${name}`),
  )
}

function parseKured(text: string): KuredName | 'off' {
  if (text === 'off') return text
  const [namespace = '', name = '', ...more] = text.split('/')
  const isName = (part: string) => /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(part)
  if (!isName(namespace) || !isName(name) || more.length > 0) {
    throw new InvalidArgumentError('it is NAMESPACE/NAME, or off.')
  }
  return { namespace, name }
}

/** What the flag means to the operator. */
export function kuredOptions(
  { kured }: KuredFlag,
  controllers: readonly ControllerName[],
): Pick<OperatorOptions, 'kured' | 'controllers'> {
  return kured === 'off' ? { controllers: controllers.filter((name) => name !== 'kured') } : { kured, controllers }
}
