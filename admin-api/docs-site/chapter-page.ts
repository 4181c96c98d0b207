/** The page of a chapter: its place in the manual, its text, its headings, and the previous and next chapters. */
import { refusals, type RefusalCode } from '#core/refusals.ts'
import { html, type Html } from '../pages/layout/html.ts'
import type { Chapter } from './chapters/chapters.ts'
import { framed, side, type Site } from './frame.ts'

export function chapterPage(site: Site, chapter: Chapter): string {
  const { manual } = site
  const { entry, section: name, group, title, titleHtml, lead, facts, body } = chapter
  const section = manual.sections.find((one) => one.title === name)
  const neighbours = manual.chapters.filter((one) => one.section === name)
  const at = neighbours.indexOf(chapter)
  const content = html`<div class="columns">
    ${section && side(site, section, entry.path)}
    <main id="content" tabindex="-1">
      <article class="text">
        <p class="crumbs">${name} <span aria-hidden="true">/</span> ${group}</p>
        <h1 class="${isCode(title) && 'code-title'}">${titleHtml}</h1>
        ${lead && html`<p class="lead">${lead}</p>`}
        ${
          facts.length > 0 &&
          html`<ul class="facts">
            ${facts.map((fact) => html`<li>${fact}</li>`)}
          </ul>`
        }
        ${body}
      </article>
      <nav class="neighbours" aria-label="Before and after">
        ${neighbour('Before', neighbours[at - 1], site, entry.path)} ${neighbour('Next', neighbours[at + 1], site, entry.path)}
      </nav>
    </main>
    <aside class="contents" aria-label="On this page">
      ${onThisPage(chapter)}
      <p>
        Written for ${site.version}.<br />
        <a href="${markdownHref(site, chapter)}">Read as Markdown</a>
      </p>
    </aside>
  </div>`
  const description = chapter.sections[0]?.text.trim() ?? ''
  return framed(site, { path: entry.path, title, description, section: name, content, hasSide: true })
}

const isCode = (title: string): title is RefusalCode => Object.hasOwn(refusals, title)

const markdownHref = ({ addresses }: Site, { entry }: Chapter): string =>
  addresses.page(entry.path, entry.path).replace(/(?:\.html)?$/, '.md')

function onThisPage({ headings }: Chapter): Html | undefined {
  const shown = headings.filter(({ level }) => level === 2)
  if (shown.length < 2) return undefined
  return html`<h2>On this page</h2>
    <ul>
      ${shown.map(({ title, anchor }) => html`<li><a href="#${anchor}">${title.replace(/^\d+\. /, '')}</a></li>`)}
    </ul>`
}

const neighbour = (word: string, chapter: Chapter | undefined, { addresses }: Site, from: string): Html | undefined =>
  chapter &&
  html`<a class="${word.toLowerCase()}" href="${addresses.page(chapter.entry.path, from)}"><span>${word}</span> ${chapter.entry.label}</a>`
