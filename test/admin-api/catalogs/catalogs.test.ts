/** Catalogs: generated types are current, translations match the English messages, and missing translations fall back to English. */
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { build } from 'esbuild'
import { catalogIn } from '#config/catalogs/catalog-in.ts'
import { billableAxes } from '#config/plans/prices.ts'
import type { MessageTree } from '#config/texts/message-tree.ts'
import { isMarkup } from '#config/texts/messages.ts'
import { parametersOf } from '#config/texts/parameter-types.ts'
import test from '#test'
import { catalogFolder, readCatalog } from '../../../admin-api/catalogs/catalog-files.ts'
import { catalogPlugin } from '../../../admin-api/catalogs/catalog-plugin.ts'
import { catalogTypes } from '../../../admin-api/catalogs/generate-types.ts'
import { pageMessages } from '../../../admin-api/catalogs/page-messages.ts'
import { html } from '../../../admin-api/pages/layout/html.ts'

const root = join(import.meta.dirname, '../../..')
const catalogs = globSync(['admin-api/catalogs/{dashboard,pages}/*/*.json', 'config/catalogs/*/*.json'], { cwd: root }).map((path) =>
  join(root, path),
)

const flat = (tree: MessageTree, at = ''): readonly (readonly [string, string])[] =>
  Object.entries(tree).flatMap(([name, message]) =>
    typeof message === 'string' ? [[`${at}${name}`, message] as const] : flat(message, `${at}${name}.`),
  )

test('generated types of the catalogs are current', (t) => {
  for (const [path, text] of catalogTypes()) t.is(readFileSync(path, 'utf8'), text, 'run npm run generate')
})

/** Every problem of a form gets the same parameters. */
const parametersGiven = (name: string, english: ReadonlyMap<string, string>): ReadonlyMap<string, string> =>
  name.startsWith('problems.')
    ? new Map([...english].filter(([each]) => each.startsWith('problems.')).flatMap(([, message]) => [...parametersOf(message)]))
    : parametersOf(english.get(name) ?? '')

test('every translation has an English message with the same parameters', (t) => {
  const faults = catalogs.flatMap((path) => {
    const english = new Map(flat(readCatalog(join(dirname(dirname(path)), 'en', basename(path)))))
    return flat(readCatalog(path)).flatMap(([name, message]) => {
      const [own, known] = [parametersOf(message), parametersGiven(name, english)]
      // A translation may select by a parameter that English shows as text.
      const fits = (type: string, given: string | undefined): boolean =>
        given === type ||
        (given === 'string | number' && ['string', 'number'].includes(type)) ||
        (given !== undefined && type === 'string | number')
      const odd = [...own].filter(([parameter, type]) => !fits(type, known.get(parameter)))
      const fault = english.has(name) ? odd.map(([parameter]) => parameter).join(' ') : 'not in English'
      return fault === '' ? [] : [`${path} ${name}: ${fault}`]
    })
  })
  t.true(catalogs.length > 0)
  t.deepEqual(faults, [])
})

test('translations have markup where English has it', (t) => {
  const pages = catalogs.filter((path) => path.includes('/pages/'))
  const faults = pages.flatMap((path) => {
    const english = new Map(flat(readCatalog(join(dirname(dirname(path)), 'en', basename(path)))))
    return flat(readCatalog(path)).filter(([name, message]) => isMarkup(message) !== isMarkup(english.get(name) ?? ''))
  })
  t.true(pages.length > 0)
  t.deepEqual(faults, [])
})

test('pageMessages(): parameters of markup are escaped, and parts of a page are not', (t) => {
  const { claims } = pageMessages('own', 'en')
  t.is(String(claims.asked({ client: '<b>', at: html`<time>now</time>` })), '&lt;b&gt;, asked <time>now</time>.')
  t.is(claims.attachCode({ code: '<b>' }), 'Attach <b>', 'the page escapes text')
})

test('pageMessages(): a language without a catalog is in English', (t) => {
  t.is(pageMessages('unsubscribe', 'ar').act, pageMessages('unsubscribe', 'en').act)
})

test('lines of invoices have the English names of the price list', (t) => {
  const { axes } = catalogIn('invoice-lines', 'en')
  t.deepEqual({ ...axes }, Object.fromEntries(Object.entries(billableAxes).map(([axis, { label }]) => [axis, label])) as typeof axes)
})

test('every catalog of the dashboard is loaded under its own name', (t) => {
  const client = join(root, 'admin-api/dashboard/client')
  const named = globSync('**/*texts.ts', { cwd: client }).flatMap((file) => [
    ...readFileSync(join(client, file), 'utf8').matchAll(/catalog\(\s*'([\w-]+)',[^$]*\$\{\w+\}\/([\w-]+)\.json`/g),
  ])
  t.deepEqual(
    named.filter(([, name, file]) => name !== file).map(([text]) => text),
    [],
  )
  const files = globSync('*.json', { cwd: join(catalogFolder('dashboard'), 'en') }).map((file) => basename(file, '.json'))
  t.deepEqual(named.map(([, name = '']) => name).sort(), files.sort())
})

test('catalogPlugin: missing messages and missing languages are in English', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'postern-catalogs-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  for (const [language, messages] of Object.entries({ en: { yes: 'Yes', n: '{n, number} mails' }, de: { yes: 'Ja' } })) {
    mkdirSync(join(folder, 'catalogs', language), { recursive: true })
    writeFileSync(join(folder, 'catalogs', language, 'area.json'), JSON.stringify(messages))
  }
  const entry = `
    import { catalog, speak, withTexts } from ${JSON.stringify(join(root, 'admin-api/dashboard/client/texts/catalog.ts'))}
    const words = catalog('area', (language) => import(\`./catalogs/\${language}/area.json\`))
    export const show = async (language) => {
      await speak(language)
      await withTexts(Promise.resolve())
      return [words().yes, words().n({ n: 1234 })]
    }`
  const { outputFiles } = await build({
    stdin: { contents: entry, resolveDir: folder },
    ...{ bundle: true, format: 'esm', write: false, plugins: [catalogPlugin], banner: { js: 'const document = { documentElement: {} }' } },
  })
  const module = `data:text/javascript,${encodeURIComponent(outputFiles[0]?.text ?? '')}`
  const { show } = (await import(module)) as { readonly show: (language: string) => Promise<readonly string[]> }
  t.deepEqual(await show('de'), ['Ja', '1,234 mails'])
  t.deepEqual(await show('fr'), ['Yes', '1,234 mails'])
})
