// Starts `cudalint server` for CUDA C++ and Python, and leaves the rest to vscode-languageclient.
const { workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

exports.activate = function () {
  const folder = workspace.workspaceFolders?.[0]?.uri.fsPath ?? "";
  const [command, ...args] = workspace
    .getConfiguration("cudalint")
    .get("command")
    .map((word) => word.replaceAll("${workspaceFolder}", folder));
  const languages = ["cuda-cpp", "cuda", "cpp", "c", "python"];
  const schemes = ["file", "untitled"];
  client = new LanguageClient("cudalint", { command, args }, {
    documentSelector: languages.flatMap((language) =>
      schemes.map((scheme) => ({ scheme, language })),
    ),
  });
  return client.start();
};

exports.deactivate = () => client?.stop();
