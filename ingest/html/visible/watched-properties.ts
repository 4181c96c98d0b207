/** Properties that can hide text, or move, cover or colour it so that it is unreadable. */
export const watchedProperties: ReadonlySet<string> = new Set([
  ...['display', 'visibility', 'content-visibility', 'opacity', 'filter', '-webkit-filter', 'mix-blend-mode', 'content', 'contain'],
  ...['font', 'font-size', 'font-size-adjust', 'line-height', 'letter-spacing', 'word-spacing', 'text-indent', 'zoom', 'unicode-bidi'],
  ...['color', '-webkit-text-fill-color', '-webkit-text-security', 'background', 'background-color', 'background-image'],
  ...['background-clip', '-webkit-background-clip', 'position', 'left', 'right', 'top', 'bottom', 'inset', 'inset-block', 'inset-inline'],
  ...['inset-block-start', 'inset-block-end', 'inset-inline-start', 'inset-inline-end', 'z-index'],
  ...['margin', 'margin-left', 'margin-top', 'margin-block', 'margin-block-start', 'margin-inline', 'margin-inline-start'],
  ...['height', 'max-height', 'width', 'max-width', 'block-size', 'max-block-size', 'inline-size', 'max-inline-size'],
  ...['overflow', 'overflow-x', 'overflow-y', 'overflow-block', 'overflow-inline', 'clip', 'clip-path', '-webkit-clip-path'],
  ...['mask', 'mask-image', '-webkit-mask', '-webkit-mask-image', '-webkit-mask-box-image', 'mask-border', 'mask-border-source'],
  ...['transform', '-webkit-transform', '-ms-transform', '-moz-transform', 'translate', 'scale', 'rotate', 'offset-path', 'offset'],
  ...['animation', 'animation-name', '-webkit-animation', '-webkit-animation-name'],
])
