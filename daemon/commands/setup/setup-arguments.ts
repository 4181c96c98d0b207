/** The options of `postern setup`. */
import type { ParseArgsOptionsConfig } from 'node:util'
import type { SetupArguments } from './answers.ts'

const text = { type: 'string' } as const
const flag = { type: 'boolean' } as const

export const setupOptions: ParseArgsOptionsConfig = {
  ...{ domain: text, host: text, email: text, url: text, public: text, spf: text, config: text, zone: text },
  ...{ certificate: text, 'certificate-file': text, 'key-file': text },
  ...{ outgoing: { type: 'string', multiple: true }, force: flag, yes: flag },
}

export function setupArguments(values: Readonly<Record<string, unknown>>): SetupArguments {
  const given = (name: string): string | undefined => (typeof values[name] === 'string' ? values[name] : undefined)
  return {
    ...{ domain: given('domain'), host: given('host'), email: given('email'), url: given('url'), public: given('public') },
    ...{ certificate: given('certificate'), certificateFile: given('certificate-file'), keyFile: given('key-file') },
    ...{ spf: given('spf'), config: given('config'), zone: given('zone') },
    ...{ outgoing: [values['outgoing'] ?? []].flat().map(String), force: values['force'] === true, yes: values['yes'] === true },
  }
}
