/** The start page of the documentation: what Postern does, the path of a mail, and the guides to start with. */
import { html, Html } from '../pages/layout/html.ts'
import { codeBlock } from './chapters/code-blocks.ts'
import type { Group } from './chapters/contents.ts'
import { framed, type Site } from './frame.ts'

const description =
  'Postern sits between your websites and the mail providers you already pay. It takes every mail, says where it went, holds what should not leave, and tells you in words why something did not arrive.'

const firstMail = `$ npm ci && npm start
  listening   http://127.0.0.1:8080

$ npx postern send --from shop@example.com \\
    --to nora@example.org --text 'It works.'
  trace       5787f135-63e2-4a35-969b-998bf941bedf
  outcome     captured.no_route`

const stations: readonly (readonly [title: string, words: string])[] = [
  ['Accepted', 'On disk before you get the answer. By REST, SMTP, a form or an agent.'],
  ['Decided', 'Rules choose a destination. Without a live one the mail is captured, never lost.'],
  ['Tried', 'Your provider’s reply, word for word. Retries and failover are yours to set.'],
  ['Known', 'Delivered, bounced or complained about, as reported back.'],
]

export function startPage(site: Site): string {
  const { manual, addresses } = site
  const guides = manual.sections.find(({ title }) => title === 'Guides')?.groups ?? []
  const content = html`<main id="content" class="start">
    <div class="hero">
      <div>
        <h1>Mail and forms through one small door</h1>
        <p class="lead">${description}</p>
        <p class="ways">
          <a class="button" href="${addresses.page('getting-started', '')}">Start in five minutes</a>
          <a class="button quiet" href="${addresses.page('concepts', '')}">Read the concepts</a>
        </p>
      </div>
      <div class="door">${arch} ${Html.of([codeBlock(firstMail, { language: '', title: 'Terminal', tab: undefined })], [])}</div>
    </div>
    <section class="stations" aria-labelledby="stations">
      <h2 id="stations">What happens to a mail</h2>
      <p>Every send walks the same four stations. Each one writes a line into the trace, so that “where is my mail?” has an answer.</p>
      <ol>
        ${stations.map(
          ([title, words], index) =>
            html`<li>
              <span class="arch" aria-hidden="true">${index + 1}</span>
              <h3>${title}</h3>
              <p>${words}</p>
            </li>`,
        )}
      </ol>
    </section>
    <section class="from" aria-labelledby="from">
      <div>
        <h2 id="from">Come from where you are</h2>
        <p>Each guide starts with what you have and ends with a mail you can see.</p>
      </div>
      <div>${guides.map((group) => guideList(site, group))}</div>
    </section>
  </main>`
  return framed(site, {
    path: '',
    title: 'Mail and forms through one small door',
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
