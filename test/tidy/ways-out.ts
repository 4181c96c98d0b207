/** The code that may open a connection to another host: everything outgoing passes the checks of one folder. */
import { matchesGlob, posix } from 'node:path'
import { layerOf, resolveImport } from './layers.ts'
import type { Source } from './source.ts'

const outbound = 'protocols/outbound'
const relay = 'protocols/relay'

/** Functions that open connections, by module. */
const opening: Readonly<Record<string, readonly string[]>> = {
  'node:dgram': ['createSocket', 'Socket'],
  'node:http': ['Agent', 'get', 'globalAgent', 'request'],
  'node:http2': ['connect'],
  'node:https': ['Agent', 'get', 'globalAgent', 'request'],
  'node:net': ['connect', 'createConnection', 'Socket'],
  'node:tls': ['connect'],
}

/** The folder itself, and requests of relay over an agent of that folder. */
const mayOpen = [`${outbound}/**`, `${relay}/http/vendor-call.ts`]

/** Files that may import relay: its own, and the composition of the daemon. */
const mayRelay = [`${relay}/**`, 'daemon/composition/layers/outside.ts']

/** Connections opened elsewhere, relay used for anything but mail, and an outbound that depends on a mail protocol. */
export function waysOut(sources: readonly Source[]): string[] {
  const judged = sources.filter(({ path }) => layerOf(path) !== 'test')
  return judged.flatMap(({ path, imports }) =>
    imports.flatMap(({ specifier, names, line }) => {
      const fault = openingFault(path, specifier, names) ?? folderFault(path, specifier)
      return fault ? [`${path}:${line} imports ${specifier}: ${fault}`] : []
    }),
  )
}

function openingFault(path: string, specifier: string, names: readonly string[]): string | undefined {
  if (!Object.hasOwn(opening, specifier) || mayOpen.some((glob) => matchesGlob(path, glob))) return undefined
  const found = names.find((name) => name === '*' || name === 'default' || opening[specifier]?.includes(name))
  return found && `${found} opens connections, which is done in ${outbound} only`
}

function folderFault(path: string, specifier: string): string | undefined {
  const target = resolveImport(path, specifier)
  if (target === undefined) return undefined
  const isMailOnly = matchesGlob(target, `${relay}/**`) && !mayRelay.some((glob) => matchesGlob(path, glob))
  if (isMailOnly) return `nothing leaves through relay but relay; connections come from ${outbound}`
  const isBeside = path.startsWith(`${outbound}/`) && target.startsWith('protocols/') && posix.dirname(target) !== outbound
  return isBeside ? `${outbound} stands below the other folders of protocols` : undefined
}
