/**
 * Style sheets that load with the code of a screen: `import '../style/forms.css' with { type: 'css' }`. The code applies the sheet before
 * the screen renders. esbuild would write a file instead, which nothing loads.
 */
import { readFile } from 'node:fs/promises'
import type { Plugin } from 'esbuild'

export const sheetPlugin: Plugin = {
  name: 'sheets',
  setup(bundler) {
    const { target, minify } = bundler.initialOptions
    bundler.onLoad({ filter: /\.css$/ }, async ({ path, with: { type } }) => {
      if (type !== 'css') return undefined
      const options = { loader: 'css', ...(minify !== undefined && { minify }), ...(target !== undefined && { target }) } as const
      const { code } = await bundler.esbuild.transform(await readFile(path, 'utf8'), options)
      const contents = `const sheet = new CSSStyleSheet()
sheet.replaceSync(${JSON.stringify(code)})
document.adoptedStyleSheets.push(sheet)`
      return { contents, loader: 'js' }
    })
  },
}
