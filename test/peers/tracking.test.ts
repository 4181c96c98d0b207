/** Mail rewritten for tracking, parsed by Python's email package: the links have changed, and nothing else. */
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { trackableLinks, trackedMessage, Untracked } from '#ingest/messages/tracked-message.ts'
import { testWith } from '../support/peers/peers.ts'
import { Seeded } from '../support/seeded.ts'

const run = promisify(execFile)

const python = testWith('python')

/** Every part: its header fields, its octets, and of HTML the addresses and the text that its own parser finds. */
const reader = `
import sys, json, base64, email, email.policy
from html.parser import HTMLParser
class Look(HTMLParser):
    def __init__(self):
        super().__init__()
        self.addresses, self.rest = [], []
    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name in ('href', 'src'): self.addresses.append(value)
        if tag != 'img': self.rest.append([tag, [one for one in attrs if one[0] not in ('href', 'src')]])
    def handle_data(self, data): self.rest.append(data)
    def handle_comment(self, data): self.rest.append(['comment', data])
def look(part):
    fields = [[name, str(value)] for name, value in part.raw_items() if name.lower() != 'content-transfer-encoding']
    if part.is_multipart(): return {'fields': fields, 'preamble': part.preamble, 'epilogue': part.epilogue, 'defects': len(part.defects)}
    octets = part.get_payload(decode=True)
    if part.get_content_type() != 'text/html' or part.get_filename(): return {'fields': fields, 'octets': octets.hex()}
    seen = Look()
    seen.feed(octets.decode(part.get_content_charset('us-ascii')))
    seen.close()
    return {'fields': fields, 'addresses': seen.addresses, 'rest': [one for one in seen.rest if one != '']}
messages = json.load(sys.stdin)
print(json.dumps([[look(part) for part in email.message_from_bytes(base64.b64decode(one)).walk()] for one in messages]))
`

interface Part {
  readonly addresses?: readonly string[]
}

const own = 'https://post.example.ch'

python(
  "Python's email package sees the marks in every message of the fixtures, and no other change (needs the package python3)",
  async (t) => {
    const names = ['shop', 'latin1-base64', 'long-line', 'short-lines']
    const raws = await Promise.all(names.map((name) => readFile(new URL(`../fixtures/tracking/${name}.eml`, import.meta.url))))
    const targets = raws.map((raw) => trackableLinks(raw, own))
    const marked = raws.map((raw, at) =>
      trackedMessage(raw, own, { links: targets[at]?.map((_, link) => `${own}/t/c/${link + 1}`), pixel: `${own}/t/o/1` }),
    )
    const child = run('/usr/bin/python3', ['-c', reader], { maxBuffer: 1 << 22 })
    child.child.stdin?.end(JSON.stringify([...raws, ...marked].map((raw) => raw.toString('base64'))))
    const read = JSON.parse((await child).stdout) as Part[][]
    const without = (parts: readonly Part[] = []) => parts.map(({ addresses: _, ...rest }) => rest)
    for (const [at, name] of names.entries()) {
      const [before, after] = [read[at] ?? [], read[at + names.length] ?? []]
      t.true(before.length > 0, name)
      t.deepEqual(without(after), without(before), name)
      const seen = after.flatMap(({ addresses = [] }) => addresses)
      const links = targets[at] ?? []
      const isPixel = (address: string) => address === `${own}/t/o/1`
      t.is(seen.filter(isPixel).length, 1, name)
      const restored = seen.map((address) => {
        const [, link] = /\/t\/c\/(\d+)$/.exec(address) ?? []
        return link === undefined ? address : (links[Number(link) - 1] ?? '')
      })
      const asBrowser = (address: string) => (/^https?:/.test(address) && !address.includes('{') ? new URL(address).href : address)
      t.deepEqual(
        restored.filter((address) => !isPixel(address)).map(asBrowser),
        before.flatMap(({ addresses = [] }) => addresses).map(asBrowser),
        name,
      )
    }
  },
)

/** Everything that Python's HTML parser sees of each text. */
const tagReader = `
import sys, json
from html.parser import HTMLParser
class Look(HTMLParser):
    def __init__(self):
        super().__init__()
        self.seen = []
    def handle_starttag(self, tag, attrs): self.seen.append([tag, attrs])
    def handle_endtag(self, tag): self.seen.append('/' + tag)
    def handle_data(self, data): self.seen.append(['data', data])
    def handle_comment(self, data): self.seen.append(['comment', data])
    def handle_decl(self, data): self.seen.append(['decl', data])
    def handle_pi(self, data): self.seen.append(['pi', data])
    def unknown_decl(self, data): self.seen.append(['unknown', data])
def look(text):
    one = Look()
    one.feed(text)
    one.close()
    return one.seen
print(json.dumps([look(text) for text in json.load(sys.stdin)]))
`

const scraps = [
  ...[
    '<a href="https://a.test/1">',
    '<a href=https://a.test/2>',
    "<a href='https://a.test/3'>",
    '<a class="x" href="https://a.test/?a=1&amp;b=2" id=y>',
  ],
  ...[
    '<a href="https://a.test/6" href="https://a.test/7">',
    '<area href="https://a.test/5" />',
    '<a\r\nhref\r\n=\r\n"https://a.test/8"\r\n>',
    '</a>',
  ],
  ...[
    '<p>',
    '</p>',
    'text',
    '<',
    '>',
    '"',
    "'",
    '<a ',
    'href=',
    'https://a.test/4',
    '<!-- ',
    ' -->',
    '<script>',
    '</script>',
    '<style>',
    '</style>',
  ],
  ...['<title>', '</title>', '<td ', '/>', '&', '&lt;', '<![if x]>', '<![endif]>', '<br/>', '</body>', ' ', '\r\n', '='],
]

python(
  "Python's HTML parser sees the same tags and texts with and without marks, however broken (needs the package python3)",
  async (t) => {
    const seeded = new Seeded('scraps')
    const cases: { readonly html: string; readonly marked: string; readonly links: readonly string[] }[] = []
    for (let round = 0; round < 3000; round++) {
      const html = Array.from({ length: seeded.between(1, 14) }, () => seeded.pick(scraps)).join('')
      const head = 'Content-Type: text/html; charset=utf-8\r\n\r\n'
      try {
        const raw = Buffer.from(head + html)
        const links = trackableLinks(raw, own)
        const marks = { links: links.map((_, at) => `${own}/t/c/${at + 1}`), pixel: undefined }
        cases.push({ html, marked: trackedMessage(raw, own, marks).toString().slice(head.length), links })
      } catch (error) {
        if (!(error instanceof Untracked)) throw error
      }
    }
    const child = run('/usr/bin/python3', ['-c', tagReader], { maxBuffer: 1 << 26 })
    child.child.stdin?.end(JSON.stringify(cases.flatMap(({ html, marked }) => [html, marked])))
    const read = JSON.parse((await child).stdout) as unknown[]
    t.true(cases.filter(({ links }) => links.length > 0).length > 1000)
    for (const [at, { html, links }] of cases.entries()) {
      const back = JSON.stringify(read[2 * at + 1]).replaceAll(
        /https:\/\/post\.example\.ch\/t\/c\/(\d+)/g,
        (_, link: string) => links[Number(link) - 1] ?? '',
      )
      t.is(back, JSON.stringify(read[2 * at]), html)
    }
  },
)
