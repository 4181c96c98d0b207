/** Calls of the API as commands for curl and as code for Node. They never contain a key. */
import { boot } from './boot.ts'
import { addressOf, partsOf, type RequestParts } from '../wire/route.ts'

interface Example {
  readonly route: string
  readonly input: RequestParts
  /** Whether the operation needs no key. */
  readonly isOpen?: boolean
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

export function curlOf({ route, input, isOpen = false }: Example): string {
  const [verb] = partsOf(route)
  const address = boot.baseUrl + addressOf(route, input)
  const hasBody = input.body !== undefined || input.file !== undefined
  const method = verb === 'GET' || (verb === 'POST' && hasBody) ? '' : ` -X ${verb}`
  const lines = [
    `curl${method} ${/[?&]/.test(address) ? quoted(address) : address}`,
    ...(isOpen ? [] : ['-H "Authorization: Bearer $KEY"']),
  ]
  if (input.body !== undefined) lines.push("-H 'Content-Type: application/json'", `-d ${quoted(JSON.stringify(input.body, undefined, 2))}`)
  if (input.file) lines.push(`-H 'Content-Type: ${input.file.type}'`, `--data-binary ${quoted(`@${input.file.name}`)}`)
  return lines.join(' \\\n  ')
}

export function nodeOf({ route, input, isOpen = false }: Example): string {
  const [verb] = partsOf(route)
  const headers = [
    ...(isOpen ? [] : ['Authorization: `Bearer ${process.env.KEY}`']),
    ...(input.body === undefined ? [] : ["'Content-Type': 'application/json'"]),
    ...(input.file ? [`'Content-Type': '${input.file.type}'`] : []),
  ]
  const options = [
    ...(verb === 'GET' ? [] : [`  method: '${verb}',`]),
    ...(headers.length === 0 ? [] : [`  headers: { ${headers.join(', ')} },`]),
    ...(input.body === undefined ? [] : [`  body: JSON.stringify(${JSON.stringify(input.body, undefined, 2).replaceAll('\n', '\n  ')}),`]),
    ...(input.file ? [`  body: await readFile(${JSON.stringify(input.file.name)}),`] : []),
  ]
  const address = `'${boot.baseUrl}${addressOf(route, input)}'`
  return [
    ...(input.file ? ["import { readFile } from 'node:fs/promises'", ''] : []),
    ...(options.length === 0
      ? [`const response = await fetch(${address})`]
      : [`const response = await fetch(${address}, {`, ...options, '})']),
    'console.log(await response.json())',
  ].join('\n')
}
