/** Line icons on a grid of 16, in the colour of their text; always beside words, or named by the control that they stand in. */
import type { JSX } from 'preact'

const paths = {
  overview: 'M2.5 13.5h11M4 11V8m4 3V3.5M12 11V6',
  traces: 'M6 3.5h7.5M6 8h7.5M6 12.5h7.5M2.5 3.5h1M2.5 8h1m-1 4.5h1',
  captures: 'M2.5 13.5V8a5.5 5.5 0 0 1 11 0v5.5zM5.5 8.5 8 10.5l2.5-2',
  destinations: 'M14 2 2 6.5l5 2.5 2.5 5zM14 2 7 9',
  scheduled: 'M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2M8 4.500V8l2.500 1.500',
  inspect: 'M2.500 13.500h11M4 10.500l2-3 2.500 2L12 4M9.500 4H12v2.500',
  routing: 'M2 8h4l3-4h5M6 8l3 4h5M12 2.500 14 4l-2 1.500m0 5 2 1.500-2 1.500',
  sources: 'M8 2.500v6m-2.500-2.500L8 8.500 10.500 6M2.500 9v4.500h11V9H11a3 3 0 0 1-6 0z',
  domains: 'M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2M2 8h12M8 2c2 2 2.5 4 2.5 6S10 12 8 14c-2-2-2.5-4-2.5-6S6 4 8 2',
  suppressions: 'M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2M4 4l8 8',
  webhooks: 'M5.5 9.5 8 5.2a2.3 2.3 0 1 0-2.3-1.5M6 11.5h4.6a2.3 2.3 0 1 0 1-2.4M9.7 7.8l1 1.6M4.6 9.2a2.3 2.3 0 1 0 1.7 2.3',
  keys: 'M10.5 2.500a3 3 0 1 1-2.800 4.100L2.500 11.800v2h2.500V12h1.500v-1.500H8l1.200-1.200a3 3 0 0 1-1.500-2.700M11 5.500h.01',
  members:
    'M6 3a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5M1.5 13.5c0-2.5 2-4 4.5-4s4.5 1.5 4.5 4M11 3.2a2.5 2.5 0 0 1 0 4.6m1.5 2.2c1.3.6 2 1.8 2 3.5',
  projects: 'M2 4h4.500L8 6h6v7.500H2zM2 9h12',
  integrations: 'M3 6h10v7H3zM8 6V3M6.500 3h3M6 9v1m4-1v1M1 9v2m14-2v2',
  usage: 'M2.500 12a6 6 0 1 1 11 0M8 9l2.500-3',
  account: 'M8 2.500a3 3 0 1 0 0 6 3 3 0 0 0 0-6M2.500 14c.500-2.500 2.500-4 5.500-4s5 1.500 5.500 4',
  search: 'M7 2.500a4.500 4.500 0 1 0 0 9 4.500 4.500 0 0 0 0-9m3.300 7.800 3.200 3.200',
  updown: 'm5 6 3-3 3 3m-6 4 3 3 3-3',
  left: 'm10 3-5 5 5 5',
  right: 'm6 3 5 5-5 5',
  down: 'm4 6 4 4 4-4',
  up: 'm4 10 4-4 4 4',
  copy: 'M5.500 5.500h8v8h-8zM3 10.500h-.500v-8h8V3',
  download: 'M8 2.500v7m-3-3 3 3 3-3M2.500 11v2.500h11V11',
  code: 'm5 4-4 4 4 4m6-8 4 4-4 4',
  close: 'm4 4 8 8m0-8-8 8',
  plus: 'M8 3v10M3 8h10',
  check: 'm3 8.500 3 3 7-7',
  replay: 'M13 8a5 5 0 1 1-1.500-3.500L13 6m0-3.500V6H9.500',
  share: 'M8 10V2.500m-3 3 3-3 3 3M2.500 9v4.500h11V9',
  more: 'M3.500 8h.01M8 8h.01M12.500 8h.01',
  menu: 'M2.500 4h11m-11 4h11m-11 4h11',
  lock: 'M4 7.500h8v6H4zM5.500 7.500v-2a2.500 2.500 0 0 1 5 0v2',
  phone: 'M5 1.500h6v13H5zM7.500 12.500h1',
  tablet: 'M3.500 1.500h9v13h-9zM7 12.500h2',
  desktop: 'M1.500 2.500h13v8.500h-13zM5.500 13.500h5',
  image: 'M2 3h12v10H2zM2 11l3.500-3.500L9 11l2-2 3 3M10.500 6h.01',
  clip: 'm13 7-5.500 5.500a3 3 0 0 1-4.500-4.500L9 2.500a2 2 0 0 1 3 3L6.500 11a1 1 0 0 1-1.500-1.500L10 4.500',
  theme: 'M8 2a6 6 0 1 0 6 6 4.500 4.500 0 0 1-6-6',
  language: 'M2 4h7M5.500 2.500V4M8 4c-.5 3-2.500 5-6 6m1.500-4c1 2 2.500 3 4 4m1 3.500 3-7 3 7m-5-2h4',
  diagnose: 'M6 2v4l-3.500 6.500c-.500 1 0 1.500 1 1.500h9c1 0 1.500-.500 1-1.500L10 6V2M5 2h6M4.500 10h7',
  operator: 'M2.500 4.500h5m3 0h3M7.500 3v3h3V3zM2.500 11.500h2m3 0h6M4.500 10v3h3v-3z',
  trash: 'M3 4.500h10M6 4.500V2.500h4v2M4.500 4.500 5 13.500h6l.500-9M7 7v4m2-4v4',
  templates: 'M2.500 2.500h11v11h-11zM2.500 6h11M6 6v7.500',
  forms: 'M2.500 3h11v4h-11zM2.500 9.500h5m-5 3.500h3.500m3.500-1.500 1.500 1.500 2.500-3',
  reference:
    'M8 4C6.500 2.800 4.500 2.500 2.500 2.500v9.500c2 0 4 .300 5.500 1.500 1.500-1.200 3.500-1.500 5.500-1.500V2.500c-2 0-4 .300-5.500 1.500v9.500',
  submissions: 'M2.500 9 4.500 3h7l2 6v4.500h-11zM2.500 9H6a2 2 0 0 0 4 0h3.500',
  tag: 'M2.500 2.500h5l6 6-5 5-6-6zM5 5h.01',
  new: 'M8 4.500a3.500 3.500 0 1 0 0 7 3.500 3.500 0 0 0 0-7',
  archive: 'M2 3h12v3H2zM3 6v7.500h10V6M6.500 9h3',
  note: 'M3 2.500h10v7.500l-3.500 3.500H3zM13 10H9.500v3.500M5.500 6h5M5.500 8.500H8',
  reply: 'M6 3.500 2 7.500l4 4M2 7.500h7a5 5 0 0 1 5 5v.500',
  compare: 'M2.500 3h4.500v10H2.500zM9 3h4.500v10H9zM4 6h1.500M4 8.500h1.500M10.500 6H12m-1.500 2.500H12',
  refresh: 'M13 8a5 5 0 1 1-1.500-3.500L13 6m0-3.500V6H9.500',
} as const

export type IconName = keyof typeof paths

export const Icon = ({ name }: { readonly name: IconName }): JSX.Element => (
  <svg class="icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
    <path d={paths[name]} />
  </svg>
)
