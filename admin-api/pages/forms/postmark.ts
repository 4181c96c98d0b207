/** The postmark of a thank-you page: name and date on the rim, a tick, and five waves. */
import { html, type Html } from '../layout/html.ts'

const longest = 26

export function postmark(name: string, day: string): Html {
  const shown = [...name].length > longest ? `${[...name].slice(0, longest - 1).join('')}…` : name
  return html`<svg class="postmark" viewBox="0 0 264 148" aria-hidden="true" focusable="false">
    <defs>
      <path id="rim-top" d="M 19 74 a 55 55 0 0 1 110 0" />
      <path id="rim-bottom" d="M 11 74 a 63 63 0 0 0 126 0" />
    </defs>
    <g fill="none" stroke="currentColor" stroke-width="2.5">
      <circle cx="74" cy="74" r="70" />
      <circle cx="74" cy="74" r="48" />
      <path d="m55 76 13 14 26-34" stroke-width="7" />
      ${[0, 1, 2, 3, 4].map(
        (wave) => html`<path d="M ${141 - Math.abs(2 - wave) * 3} ${40 + wave * 16} c 12 -11 24 -11 36 0 s 24 11 36 0 s 24 -11 36 0" />`,
      )}
    </g>
    <g fill="currentColor" text-anchor="middle">
      <text><textPath href="#rim-top" startOffset="50%">${shown.toLocaleUpperCase()}</textPath></text>
      <text><textPath href="#rim-bottom" startOffset="50%">${day.toLocaleUpperCase()}</textPath></text>
    </g>
  </svg>`
}
