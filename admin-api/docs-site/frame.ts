/** The frame of every page of the documentation: header with sections and search, lists of chapters, footer. */
import type { Manual } from './chapters/chapters.ts'
import type { Group, Section } from './chapters/contents.ts'
import { html, type Html } from '../pages/layout/html.ts'
import type { Addresses } from './chapters/links.ts'

/** Common data of all pages of a site. */
export interface Site {
  readonly manual: Manual
  readonly addresses: Addresses
  /** Names of the built files. */
  readonly files: SiteFiles
  readonly version: string
}

export interface SiteFiles {
  readonly theme: string
  readonly script: string
  readonly style: string
  readonly icon: string
  /** Files that the search loads at first use: its program and its index. */
  readonly search: string
  readonly index: string
}

export interface FramedPage {
  /** Path under `/docs/`; `` is the start page. */
  readonly path: string
  readonly title: string
  readonly description: string
  readonly section: string | undefined
  readonly content: Html
  /** The page has a list of chapters at its side. */
  readonly hasSide: boolean
}

export function framed(site: Site, page: FramedPage): string {
  const { addresses, files } = site
  const file = (name: string): string => addresses.file(name, page.path)
  return html`<!doctype html>
    <html
      lang="en"
      data-root="${addresses.page('', page.path)}"
      data-page="${addresses.page('*', page.path)}"
      data-search="${file(files.search)}"
      data-index="${file(files.index)}"
    >
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="description" content="${page.description}" />
        <title>${page.title} – Postern Docs</title>
        <link rel="icon" href="${file(files.icon)}" type="image/svg+xml" />
        <script src="${file(files.theme)}"></script>
        <link rel="stylesheet" href="${file(files.style)}" />
        <script src="${file(files.script)}" defer></script>
      </head>
      <body>
        <a class="skip" href="#content">Skip to content</a>
        ${header(site, page)} ${page.content} ${footer(site, page)}
      </body>
    </html>`.toString()
}

const mark = html`<svg class="mark" viewBox="0 0 22 24" aria-hidden="true" focusable="false">
  <path d="M0 24V11a11 11 0 0 1 22 0v13z" fill="currentColor" />
  <path d="M6.5 15.5h9" stroke="var(--sheet)" stroke-width="2.6" stroke-linecap="round" />
</svg>`

const glass = html`<svg viewBox="0 0 20 20" aria-hidden="true" focusable="false">
  <circle cx="8.5" cy="8.5" r="5.5" />
  <path d="m13 13 4.5 4.5" />
</svg>`

/** The search and the color switch need the script, which makes them visible. */
function header({ manual, addresses }: Site, { path, section, hasSide }: FramedPage): Html {
  return html`<header class="head">
    <a class="brand" href="${addresses.page('', path)}">${mark}<b>Postern</b> Docs</a>
    <nav class="sections" aria-label="Sections">${sectionLinks(manual, addresses, path, section)}</nav>
    <div class="search" role="search" hidden>
      <label for="search">${glass}<span class="unseen">Search the docs</span></label>
      <input
        id="search"
        type="search"
        placeholder="Search the docs"
        autocomplete="off"
        spellcheck="false"
        role="combobox"
        aria-expanded="false"
        aria-controls="found"
        aria-autocomplete="list"
      />
      <kbd aria-hidden="true">/</kbd>
      <div id="found" class="found" role="listbox" aria-label="Found" hidden></div>
      <p class="unseen" role="status"></p>
    </div>
    <button class="icon find" type="button" aria-label="Search" hidden>${glass}</button>
    <button class="icon theme" type="button" aria-label="Dark colours" aria-pressed="false" hidden>
      <svg viewBox="0 0 20 20" aria-hidden="true" focusable="false">
        <circle cx="10" cy="10" r="7" />
        <path d="M10 3a7 7 0 0 1 0 14z" fill="currentColor" />
      </svg>
    </button>
    <button class="icon menu" type="button" aria-label="Menu" popovertarget="${hasSide ? 'side' : 'all'}">
      <svg viewBox="0 0 20 20" aria-hidden="true" focusable="false"><path d="M3 5.5h14M3 10h14M3 14.5h14" /></svg>
    </button>
    ${!hasSide && html`<nav class="side alone" id="all" popover aria-label="Sections">${sectionLinks(manual, addresses, path, section)}</nav>`}
  </header>`
}

function sectionLinks({ sections }: Manual, addresses: Addresses, from: string, current: string | undefined): readonly Html[] {
  return sections.map(({ title, groups }) => {
    const [first] = groups.flatMap(({ entries }) => entries)
    return html`<a href="${addresses.page(first?.path ?? '', from)}" ${title === current && html`aria-current="true"`}>${title}</a>`
  })
}

/** Returns the chapters of a section; on phones, preceded by the other sections. */
export function side({ manual, addresses }: Site, section: Section, from: string): Html {
  return html`<nav class="side" id="side" popover aria-label="${section.title}">
    <div class="others">${sectionLinks(manual, addresses, from, section.title)}</div>
    ${section.title === 'API' && addresses.service !== undefined && reference(addresses.service)}
    ${section.groups.map((group) => groupLinks(group, addresses, from))}
  </nav>`
}

const reference = (service: string): Html =>
  html`<h2>Try it out</h2>
    <ul>
      <li><a href="${service}/docs/api">All operations, with your session</a></li>
      <li><a href="${service}/openapi.json">OpenAPI 3.1</a></li>
    </ul>`

const groupLinks = ({ title, entries }: Group, addresses: Addresses, from: string): Html =>
  html`<h2>${title}</h2>
    <ul>
      ${entries.map(
        ({ path, label }) =>
          html`<li><a href="${addresses.page(path, from)}" ${path === from && html`aria-current="page"`}>${breakable(label)}</a></li>`,
      )}
    </ul>`

function footer({ addresses, version }: Site, { path }: FramedPage): Html {
  return html`<footer class="foot">
    <a href="${addresses.file('llms.txt', path)}">llms.txt</a>
    <a href="${addresses.page('security', path)}">Security</a>
    <a href="${addresses.page('promises', path)}">Promises</a>
    <p>Postern ${version}. No cookies, no tracking, no third-party requests.</p>
  </footer>`
}

/** Allows line breaks after underscores in long codes. */
const breakable = (label: string): Html => html`${label.split('_').map((part, index) => (index === 0 ? part : html`_<wbr />${part}`))}`
