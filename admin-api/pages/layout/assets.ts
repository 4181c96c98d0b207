/** Stylesheet, icons and script of the pages, served from memory. Their names change with their content. */
import { hash } from 'node:crypto'
import { join } from 'node:path'
import * as z from 'zod'
import { ownFile } from '#config/own-files.ts'
import { Refusal } from '#core/refusals.ts'
import { media, raw } from '../../operation/answer.ts'
import { operation, type Operation } from '../../operation/operation.ts'

interface Asset {
  readonly path: string
  readonly bytes: Buffer
  readonly contentType: string
}

/** Loads an asset; `before` lists files that precede its content. */
function load(name: string, contentType: string, before: readonly string[] = []): Asset {
  const bytes = Buffer.concat([...before, name].map((each) => ownFile(join(import.meta.dirname, '../assets', each))))
  const dot = name.lastIndexOf('.')
  return { path: `${name.slice(0, dot)}-${hash('sha256', bytes).slice(0, 16)}${name.slice(dot)}`, bytes, contentType }
}

const style = load('style.css', 'text/css; charset=utf-8', ['colors.css'])
const icon = load('icon.svg', 'image/svg+xml')
const smallIcon = load('favicon.ico', 'image/x-icon')
const script = load('page.js', 'text/javascript; charset=utf-8')
const byPath = new Map([style, icon, script].map((asset) => [asset.path, asset]))

/** Paths of the assets in pages. */
export const assetPaths = { style: `/assets/${style.path}`, icon: `/assets/${icon.path}`, script: `/assets/${script.path}` } as const

const facts = { method: 'GET', tags: ['pages'], scope: 'none', bypassesLoadShedding: true, hiddenFromOpenApi: true } as const

const asset = operation({
  ...facts,
  path: '/assets/{file}',
  operationId: 'getAsset',
  summary: 'Read a stylesheet, icon or script of the pages',
  params: z.strictObject({ file: z.string() }),
  response: media('text/css'),
  handle({ params: { file } }) {
    const found = byPath.get(file)
    if (!found) throw new Refusal('not_found', 'No file has this name. Reload the page.')
    return raw(found.bytes, { contentType: found.contentType, headers: { 'cache-control': 'public, max-age=31536000, immutable' } })
  },
})

/** Browsers request it if a response is not a page, such as the JSON of an operation. */
const favicon = operation({
  ...facts,
  path: '/favicon.ico',
  operationId: 'readFavicon',
  summary: 'Read the icon',
  response: media('image/x-icon'),
  handle: () => raw(smallIcon.bytes, { contentType: smallIcon.contentType, headers: { 'cache-control': 'public, max-age=86400' } }),
})

export const assetOperations: readonly Operation[] = [asset, favicon]
