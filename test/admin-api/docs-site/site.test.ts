/**
 * The documentation as pages: all links and anchors have targets, there is no inline code, and the index for models lists every chapter.
 */
import { posix } from 'node:path'
import test from '#test'
import { parseDocument, Parser } from 'htmlparser2'
import { fileAddresses, servedAddresses } from '../../../admin-api/docs-site/chapters/links.ts'
import { makeSite } from '../../../admin-api/docs-site/site.ts'

type Document = ReturnType<typeof parseDocument>
type Child = Document['children'][number]

/** Returns the attributes of every element, with its name. */
function elementsOf(nodes: readonly Child[]): { name: string; attributes: Readonly<Record<string, string>> }[] {
  return nodes.flatMap((node) =>
    'attribs' in node
      ? [{ name: node.name, attributes: node.attribs }, ...elementsOf(node.children)]
      : 'children' in node
        ? elementsOf(node.children)
        : [],
  )
}

/** Returns elements without a matching end tag. */
function impliedEnds(html: string): string[] {
  const implied: string[] = []
  const parser = new Parser({
    onclosetag: (name, isImplied) => {
      if (isImplied && !voids.has(name)) implied.push(name)
    },
  })
  parser.end(html)
  return implied
}

const voids = new Set(['br', 'hr', 'img', 'input', 'link', 'meta', 'wbr', 'path', 'circle'])

for (const [kind, addresses] of [
  ['served', servedAddresses],
  ['as files', fileAddresses],
] as const) {
  test(`site ${kind}: every link leads to a page, an anchor or a file`, async (t) => {
    const { pages, sources, files, llms, llmsFull } = await makeSite(addresses)
    const isServed = addresses.service !== undefined
    const at = (path: string): string => (isServed ? (path === '' ? '/docs' : `/docs/${path}`) : `/${path === '' ? 'index' : path}.html`)
    const elements = new Map([...pages].map(([path, html]) => [at(path), elementsOf(parseDocument(html).children)]))
    const anchors = new Map([...elements].map(([path, all]) => [path, all.flatMap(({ attributes: { id } }) => id ?? [])]))
    const others = [
      ...[...sources.keys()].map((path) => (isServed ? `/docs/${path}.md` : `/${path}.md`)),
      ...files.map(([name]) => (isServed ? `/docs/files/${name}` : `/files/${name}`)),
      ...['/llms.txt', '/llms-full.txt', ...(isServed ? ['/docs/api', '/openapi.json', '/metrics'] : [])],
    ]
    const isThere = (path: string, anchor: string | undefined): boolean =>
      anchor === undefined
        ? elements.has(path) || others.includes(path)
        : (anchors.get(path)?.includes(decodeURIComponent(anchor)) ?? false)
    const dead = [...elements].flatMap(([path, all]) =>
      all
        .flatMap(({ attributes: { href, src } }) => href ?? src ?? [])
        .filter((href) => !/^(?:https?|mailto):/.test(href))
        .filter((href) => {
          const [target = '', anchor] = href.split('#')
          return !isThere(target === '' ? path : posix.resolve(posix.dirname(path), target), anchor)
        })
        .map((href) => `${path}: ${href}`),
    )
    t.deepEqual(dead, [])
    for (const [path, html] of pages) t.deepEqual(impliedEnds(html), [], path)
    t.deepEqual(
      [...anchors].filter(([, ids]) => new Set(ids).size !== ids.length).map(([path]) => path),
      [],
      'an id twice',
    )
    const inline = [...elements].flatMap(([path, all]) =>
      all
        .filter(({ name, attributes }) => 'style' in attributes || name === 'style' || (name === 'script' && !attributes['src']))
        .map(() => path),
    )
    t.deepEqual(inline, [], 'the policy allows nothing inline')
    for (const [path, source] of sources) {
      t.true(llms.includes(isServed ? `(/docs/${path}.md)` : `(${path}.md)`), path)
      if (!path.startsWith('reference/')) t.true(llmsFull.includes(source.split('\n', 1)[0] ?? ''), path)
    }
  })
}

test('index: small enough for phones', async (t) => {
  const { files } = await makeSite(servedAddresses)
  const [, index = ''] = files.find(([name]) => name.startsWith('index-')) ?? []
  t.true(index.length > 10_000 && index.length < 2_000_000, String(index.length))
})
