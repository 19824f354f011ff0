//! Help, version, completions, manual.

use expect_test::expect;

use crate::scene::Scene;

#[test]
fn help_and_version() {
    let scene = Scene::new("help");
    scene.check(
        &["--version"],
        expect![[r#"
        fair 0.1.0
        --- exit status 0
    "#]],
    );
    scene.check(&["--help"], expect![[r#"
        Decides properties of concurrent systems under fairness, and explains the answers

        Usage: fair [OPTIONS] <COMMAND>

        Commands:
          check        Decide the properties of a model
          fairness     Say which fairness a property needs
          abstract     Print the abstraction of a model
          resume       Continue a check that was stopped
          cluster      Check with several processes on this machine
          simulate     Walk through a model step by step, or at random
          explain      Print a stored trace
          replay       Replay a stored trace on a model
          certify      Check certificates of verdicts without searching
          graph        Print the state graph of a model in DOT
          ltl          Print the automaton of an LTL formula
          ws1s         Decide formulas of WS1S or M2L-Str in MONA's language
          synthesise   Find the coefficients of a threshold automaton that make its properties true
          studio       Write, verify and explore models in the browser
          lsp          Serve an editor: the language server, on standard input and output
          mcp          Serve an agent: the Model Context Protocol, on standard input and output
          fmt          Bring native texts into canonical layout
          completions  Print a completion script for a shell
          man          Print the manual page

        Options:
              --color <WHEN>
                  When to use colours; NO_COLOR is obeyed

                  Possible values:
                  - auto:   On a terminal, unless NO_COLOR is set
                  - always: Always
                  - never:  Never

                  [default: auto]

              --timeout <DURATION>
                  Stop everything after this time, such as 500ms, 30s, 2m or 1h, and say what is known

              --max-memory <SIZE>
                  Stop if more memory than this is needed, such as 512M or 2GiB. Default: 80 % of what the
                  machine, or the control group of the process, has; 4G for a search of the studio

              --include <DIR>
                  Let models include files of this folder, too, not only of the folder that they are in.
                  Repeatable

          -h, --help
                  Print help (see a summary with '-h')

          -V, --version
                  Print version

        Exit status: 0 every property holds, or is as expected; 1 some property is violated, or not as
        expected; 2 the model, formula or call is wrong; 3 none of these, but some property is undecided;
        101 a bug in the tool.
        --- exit status 0
    "#]]);
    let called = scene.call(&["check", "--help"]);
    assert_eq!(called.status, 0);
    for option in ["--fairness", "--assume", "--max-memory", "--output-format"] {
        assert!(called.stdout.contains(option), "{}", called.stdout);
    }
}

#[test]
fn the_help_of_a_command_begins_with_what_the_list_says() {
    let scene = Scene::new("help-of-commands");
    let list = scene.call(&["--help"]).stdout;
    let lines = list.lines().skip_while(|line| *line != "Commands:").skip(1);
    let lines: Vec<&str> = lines.take_while(|line| !line.is_empty()).collect();
    assert!(lines.len() > 10, "{list}");

    for line in lines {
        let (name, description) = line.trim().split_once(' ').expect("name and description");
        let help = scene.call(&[name, "--help"]).stdout;
        assert!(help.starts_with(description.trim()), "{name}: {help}");
    }
}

#[test]
fn completions_for_all_shells() {
    let scene = Scene::new("completions");
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let called = scene.call(&["completions", shell]);
        assert_eq!(called.status, 0);
        assert!(called.stdout.contains("simulate"), "{shell}");
    }
    assert_eq!(scene.call(&["completions", "tcsh"]).status, 2);
}

#[test]
fn manual_pages() {
    let scene = Scene::new("man");
    let page = |arguments: &[&str]| scene.call(arguments).stdout;
    assert!(page(&["man"]).contains(".TH fair 1"));
    assert!(page(&["man", "check"]).contains("\\-\\-fairness"));
    scene.check(
        &["man", "chekc"],
        expect![[r#"
        --- stderr
        error: there is no command `chekc`
        --- exit status 2
    "#]],
    );
}
