/** The start page of the documentation: what Postern does, the path of a mail, and the guides to start with. */
import { html, Html } from '../pages/layout/html.ts'
import { codeBlock } from './chapters/code-blocks.ts'
import type { Group } from './chapters/contents.ts'
import { framed, type Site } from './frame.ts'

const description =
  'Postern accepts mail from your websites and relays it through your own mail providers. It records the path of every message, captures test mail, and explains why a message did not arrive.'

const firstMail = `$ npm ci && npm start
  listening   http://127.0.0.1:8080

$ npx postern send --from shop@example.com \\
    --to nora@example.org --text 'It works.'
  trace       5787f135-63e2-4a35-969b-998bf941bedf
  outcome     captured.no_route`

const stations: readonly (readonly [title: string, text: string])[] = [
  ['Accepted', 'By REST, SMTP, a form or an agent. The message is on disk before you get the response.'],
  ['Routed', 'Rules select a destination. Without a live destination, the message is captured.'],
  ['Relayed', 'The trace shows the reply of your provider. You configure retries and failover.'],
  ['Reported', 'Delivery, bounce and complaint reports are added to the trace.'],
]

export function startPage(site: Site): string {
  const { manual, addresses } = site
  const guides = manual.sections.find(({ title }) => title === 'Guides')?.groups ?? []
  const content = html`<main id="content" class="start" tabindex="-1">
    <div class="hero">
      <div>
        <h1>A mail relay for your websites and forms</h1>
        <p class="lead">${description}</p>
        <p class="ways">
          <a class="button" href="${addresses.page('getting-started', '')}">Start in five minutes</a>
          <a class="button quiet" href="${addresses.page('concepts', '')}">Read the concepts</a>
        </p>
      </div>
      <div class="door">${arch} ${Html.of([codeBlock(firstMail, { language: '', title: 'Terminal', tab: undefined })], [])}</div>
    </div>
    <section class="stations" aria-labelledby="stations">
      <h2 id="stations">The path of a message</h2>
      <p>Every message passes four steps. Each step adds an entry to its trace, so you can always look up where it is.</p>
      <ol>
        ${stations.map(
          ([title, text], index) =>
            html`<li>
              <span class="arch" aria-hidden="true">${index + 1}</span>
              <h3>${title}</h3>
              <p>${text}</p>
            </li>`,
        )}
      </ol>
    </section>
    <section class="from" aria-labelledby="from">
      <div>
        <h2 id="from">Guides for your software</h2>
        <p>Each guide starts with your current setup and ends with a test mail that you can open.</p>
      </div>
      <div>${guides.map((group) => guideList(site, group))}</div>
    </section>
  </main>`
  return framed(site, {
    path: '',
    title: 'A mail relay for your websites and forms',
    description,
    section: undefined,
    content,
    hasSide: false,
  })
}

const guideList = ({ addresses }: Site, { title, entries }: Group): Html =>
  html`<h3>${title}</h3>
    <ul class="guides">
      ${entries.map(
        ({ path, label, wayIn }) => html`<li><a href="${addresses.page(path, '')}">${label}</a> <span>${wayIn ?? ''}</span></li>`,
      )}
    </ul>`

/** Eleven stones with the keystone in the middle. */
const arch = ((): Html => {
  const [stones, inner, outer] = [11, 128, 178]
  const point = (radius: number, turn: number): string => {
    const angle = Math.PI * (1 - turn)
    return `${(200 + radius * Math.cos(angle)).toFixed(1)} ${(190 - radius * Math.sin(angle)).toFixed(1)}`
  }
  const stone = (index: number): Html => {
    const [from, to] = [index / stones + 0.004, (index + 1) / stones - 0.004]
    const isKey = index === (stones - 1) / 2
    const [low, high] = isKey ? [inner - 6, outer + 8] : [inner, outer]
    const corners = [point(high, from), point(high, to), point(low, to), point(low, from)]
    return html`<path class="${isKey ? 'key' : 'stone'}" d="M${corners.join('L')}Z" />`
  }
  return html`<svg class="stones" viewBox="0 0 400 196" aria-hidden="true" focusable="false">
    ${Array.from({ length: stones }, (_, index) => stone(index))}
    <path class="way" d="M88 160h58M254 160h58m-7-6 7 6-7 6" />
    <path class="letter" d="M157 134h86v54h-86zm0 0 43 30 43-30" />
  </svg>`
})()
