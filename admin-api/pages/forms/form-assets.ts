/** Stylesheets and images of form pages, under the address of forms, which may be another host than that of the other pages. */
import { hash } from 'node:crypto'
import { join } from 'node:path'
import { ownFile } from '#config/own-files.ts'
import { defaultTheme } from '#core/forms/definition/definition.ts'
import { themeSheet } from './theme-sheet.ts'

interface FormAsset {
  readonly path: string
  readonly bytes: Buffer
  readonly contentType: string
}

const named = (name: string, bytes: Buffer, contentType: string): FormAsset => {
  const dot = name.lastIndexOf('.')
  return { path: `/f/assets/${name.slice(0, dot)}-${hash('sha256', bytes).slice(0, 16)}${name.slice(dot)}`, bytes, contentType }
}

const css = 'text/css; charset=utf-8'
const read = (name: string): Buffer => ownFile(join(import.meta.dirname, '../assets', name))

/** Theme of the service itself, for pages that belong to no form. */
const own = themeSheet({
  ...defaultTheme,
  ...{
    colors: {
      ...{ primary: '#0f5f5c', background: '#f0f3f2', surface: '#ffffff', text: '#11201c', muted: '#47554f', border: '#74817c' },
      error: '#a9221b',
    },
    dark_colors: {
      ...{ primary: '#62cfbf', background: '#0b1110', surface: '#111917', text: '#e5ece9', muted: '#aab8b2', border: '#73827c' },
      error: '#ff9c92',
    },
  },
})

export const formStyle = named('form.css', read('form.css'), css)
export const ownTheme = named('theme.css', Buffer.from(own.css), css)
export const formIcon = named('icon.svg', read('icon.svg'), 'image/svg+xml')

export const formAssets: ReadonlyMap<string, FormAsset> = new Map([formStyle, ownTheme, formIcon].map((asset) => [asset.path, asset]))
